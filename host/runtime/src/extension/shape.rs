//! What a component consists of, as far as it can be told before anything costly is done with it.
//!
//! The compiler expands a component into the instances that it will have, with all that goes in and out of each. A component
//! of a thousand bytes can say that it consists of two of something that consists of two of something, and so on, thirty times:
//! before the compiler finds that this is too much, it has run out of memory. The same goes for a function that is too long.
//! So both are looked at first.

use wasmparser::{
    BinaryReaderError, ComponentAlias, ComponentExport, ComponentExternalKind, ComponentImport, ComponentInstance,
    ComponentOuterAliasKind, ComponentTypeRef, Encoding, Instance, Parser, Payload, SectionLimited,
};

/// The most instances, imports, exports and the like that a component may come to, when each is counted as often as it is
/// there. What tools make comes to some hundred; one costs the compiler about a kilobyte.
const MOST_ITEMS: u64 = 20_000;
/// The most functions in all modules. A JavaScript engine has some ten thousand.
const MOST_FUNCTIONS: u64 = 100_000;
/// The longest function, in bytes. Each byte costs the compiler about a kilobyte.
const LONGEST_FUNCTION: usize = 512 << 10;

/// What a component takes and gives, by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// What it imports, but for types, which are those of the interfaces that it imports.
    pub(super) imports: Vec<String>,
    /// The functions that it exports.
    pub(super) exports: Vec<String>,
}

/// Reads what a component consists of. What is malformed and not seen here is for the compiler to say.
pub(super) fn read(bytes: &[u8]) -> Result<Shape, String> {
    let mut reader = Reader::default();
    for payload in Parser::new(0).parse_all(bytes) {
        reader.take(payload.map_err(in_words)?)?;
    }
    Ok(reader.shape)
}

fn in_words(problem: BinaryReaderError) -> String {
    problem.message().to_owned()
}

#[derive(Default)]
struct Reader {
    shape: Shape,
    /// The components and the module that are being read, the outermost first.
    open: Vec<Part>,
    functions: u64,
}

/// A component that is being read, or a module in one.
#[derive(Default)]
struct Part {
    is_module: bool,
    /// How many items each component of its index space comes to.
    components: Vec<u64>,
    /// The same of modules.
    modules: Vec<u64>,
    /// How many it comes to itself, as far as it has been read.
    items: u64,
}

/// One of the two index spaces.
#[derive(Clone, Copy)]
enum Space {
    Components,
    Modules,
}

impl Part {
    fn space(&mut self, space: Space) -> &mut Vec<u64> {
        match space {
            Space::Components => &mut self.components,
            Space::Modules => &mut self.modules,
        }
    }
}

impl Reader {
    fn take(&mut self, payload: Payload<'_>) -> Result<(), String> {
        match payload {
            Payload::Version { encoding, .. } => {
                self.open.push(Part { is_module: encoding == Encoding::Module, ..Part::default() });
                Ok(())
            }
            Payload::End(_) => self.close(),
            Payload::ComponentImportSection(section) => self.each(section, Self::import),
            Payload::ComponentExportSection(section) => self.each(section, Self::export),
            Payload::ComponentAliasSection(section) => self.each(section, Self::alias),
            Payload::ComponentInstanceSection(section) => self.each(section, Self::instance),
            Payload::InstanceSection(section) => self.each(section, Self::core_instance),
            Payload::ComponentCanonicalSection(section) => self.count(section.count().into()),
            Payload::ImportSection(section) => self.count(section.count().into()),
            Payload::ExportSection(section) => self.count(section.count().into()),
            Payload::CodeSectionStart { count, .. } => self.more_functions(count),
            Payload::CodeSectionEntry(body) if body.range().len() > LONGEST_FUNCTION => {
                Err(format!("it has a function of more than {LONGEST_FUNCTION} bytes"))
            }
            _ => Ok(()),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        if let (Some(part), Some(outer)) = (self.open.pop(), self.open.last_mut()) {
            let space = if part.is_module { Space::Modules } else { Space::Components };
            outer.space(space).push(part.items);
        }
        Ok(())
    }

    fn import(&mut self, import: ComponentImport<'_>) -> Result<(), String> {
        match import.ty {
            ComponentTypeRef::Component(_) | ComponentTypeRef::Module(_) => return Err(passed_around()),
            ComponentTypeRef::Type(_) => (),
            _ if self.open.len() == 1 => self.shape.imports.push(import.name.name.to_owned()),
            _ => (),
        }
        self.count(1)
    }

    /// An export of a component or a module is one of its own.
    fn export(&mut self, export: ComponentExport<'_>) -> Result<(), String> {
        match export.kind {
            ComponentExternalKind::Component => self.again(Space::Components, 0, export.index)?,
            ComponentExternalKind::Module => self.again(Space::Modules, 0, export.index)?,
            ComponentExternalKind::Func if self.open.len() == 1 => {
                self.shape.exports.push(export.name.name.to_owned());
            }
            _ => (),
        }
        self.count(1)
    }

    fn alias(&mut self, alias: ComponentAlias<'_>) -> Result<(), String> {
        match alias {
            ComponentAlias::Outer { kind: ComponentOuterAliasKind::Component, count, index } => {
                self.again(Space::Components, count, index)?;
            }
            ComponentAlias::Outer { kind: ComponentOuterAliasKind::CoreModule, count, index } => {
                self.again(Space::Modules, count, index)?;
            }
            ComponentAlias::InstanceExport {
                kind: ComponentExternalKind::Component | ComponentExternalKind::Module,
                ..
            } => return Err(passed_around()),
            _ => (),
        }
        self.count(1)
    }

    fn instance(&mut self, instance: ComponentInstance<'_>) -> Result<(), String> {
        let items = match instance {
            ComponentInstance::Instantiate { component_index, args } => {
                self.comes_to(Space::Components, 0, component_index)?.saturating_add(args.len() as u64)
            }
            ComponentInstance::FromExports(exports) => exports.len() as u64,
        };
        self.count(items.saturating_add(1))
    }

    fn core_instance(&mut self, instance: Instance<'_>) -> Result<(), String> {
        let items = match instance {
            Instance::Instantiate { module_index, args } => {
                self.comes_to(Space::Modules, 0, module_index)?.saturating_add(args.len() as u64)
            }
            Instance::FromExports(exports) => exports.len() as u64,
        };
        self.count(items.saturating_add(1))
    }

    /// Adds a component or a module of `outward` components further out to the present one's.
    fn again(&mut self, space: Space, outward: u32, index: u32) -> Result<(), String> {
        let items = self.comes_to(space, outward, index)?;
        self.present()?.space(space).push(items);
        Ok(())
    }

    fn comes_to(&mut self, space: Space, outward: u32, index: u32) -> Result<u64, String> {
        let part = self.open.iter_mut().rev().nth(outward as usize).ok_or_else(out_of_range)?;
        part.space(space).get(index as usize).copied().ok_or_else(out_of_range)
    }

    fn present(&mut self) -> Result<&mut Part, String> {
        self.open.last_mut().ok_or_else(out_of_range)
    }

    fn count(&mut self, items: u64) -> Result<(), String> {
        let part = self.present()?;
        part.items = part.items.saturating_add(items);
        if part.items > MOST_ITEMS {
            return Err(format!("it comes to more than {MOST_ITEMS} instances, imports and exports"));
        }
        Ok(())
    }

    fn more_functions(&mut self, functions: u32) -> Result<(), String> {
        self.functions = self.functions.saturating_add(functions.into());
        if self.functions > MOST_FUNCTIONS {
            return Err(format!("it has more than {MOST_FUNCTIONS} functions"));
        }
        Ok(())
    }

    /// Does something with each item of a section.
    fn each<'a, T: wasmparser::FromReader<'a>>(
        &mut self,
        section: SectionLimited<'a, T>,
        take: impl Fn(&mut Self, T) -> Result<(), String>,
    ) -> Result<(), String> {
        section.into_iter().try_for_each(|item| take(self, item.map_err(in_words)?))
    }
}

/// No tool makes such a component, and what it consists of cannot be told beforehand.
fn passed_around() -> String {
    "it hands a component or a module to a component".to_owned()
}

fn out_of_range() -> String {
    "it refers to a component that is not there".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Result<Shape, String> {
        read(&wat::parse_str(text).unwrap())
    }

    /// A component that consists of two of one that consists of two of one, and so on.
    fn doubled(times: u32) -> String {
        let twice = |inner: String, level: u32| {
            let below = level - 1;
            format!(
                "(component $c{level} {inner} (instance (instantiate $c{below})) (instance (instantiate $c{below})))"
            )
        };
        let innermost = "(component $c0 (core module $m) (core instance (instantiate $m)))".to_owned();
        format!("(component {})", (1..=times).fold(innermost, twice))
    }

    #[test]
    fn names_are_those_of_the_outermost_component() {
        let text = r#"(component
            (import "a" (func))
            (import "t" (type (sub resource)))
            (component (import "b" (func)) (export "c" (func 0)))
            (core module (import "d" "e" (func)))
            (import "f" (instance))
            (export "g" (func 0))
            (export "h" (instance 0)))"#;
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(shape(text), Ok(Shape { imports: names(&["a", "f"]), exports: names(&["g"]) }));
    }

    #[test]
    fn what_multiplies_is_counted_before_it_does() {
        assert!(shape(&doubled(8)).is_ok());
        for times in [14, 20, 60] {
            assert_eq!(
                shape(&doubled(times)).unwrap_err(),
                "it comes to more than 20000 instances, imports and exports"
            );
        }
    }

    #[test]
    fn it_is_counted_behind_other_names_too() {
        let mut text = "(component $root (component $c0 (core module $m) (core instance (instantiate $m)))".to_owned();
        for level in 1..=20 {
            let below = level - 1;
            text += &format!(
                "(component $c{level} (alias outer $root $c{below} (component $x)) (export $y \"y\" (component $x))
                    (instance (instantiate $x)) (instance (instantiate $y)))"
            );
        }
        assert_eq!(shape(&(text + ")")).unwrap_err(), "it comes to more than 20000 instances, imports and exports");
    }

    #[test]
    fn what_is_wide_counts_as_often_as_it_is_there() {
        let exports: String = (0..1_000).map(|n| format!("(export \"e{n}\" (func $f))")).collect();
        let wide = |times| {
            let instances = "(core instance (instantiate $m))".repeat(times);
            format!("(component (core module $m (func $f) {exports}) {instances})")
        };
        assert!(shape(&wide(10)).is_ok());
        assert!(shape(&wide(30)).unwrap_err().starts_with("it comes to more than"));
    }

    #[test]
    fn functions_are_neither_too_long_nor_too_many() {
        let long = format!("(component (core module (func {})))", "nop ".repeat(LONGEST_FUNCTION));
        assert_eq!(shape(&long).unwrap_err(), "it has a function of more than 524288 bytes");
        let many = format!("(component (core module {}))", "(func)".repeat(100_001));
        assert_eq!(shape(&many).unwrap_err(), "it has more than 100000 functions");
    }

    #[test]
    fn components_are_not_handed_around() {
        let taken = "(component (component (import \"c\" (component)) (instance (instantiate 0))))";
        assert_eq!(shape(taken).unwrap_err(), passed_around());
        let fetched = "(component (import \"i\" (instance $i (export \"c\" (component))))
            (alias export $i \"c\" (component $c)) (instance (instantiate $c)))";
        assert_eq!(shape(fetched).unwrap_err(), passed_around());
    }
}
