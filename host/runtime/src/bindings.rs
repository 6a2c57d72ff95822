//! `kobana:api` for the host, as wasmtime sees it.

/// What a guest's `caller` handle stands for.
pub type Handle = std::sync::Arc<dyn crate::dispatch::Caller>;

wasmtime::component::bindgen!({
    path: "../../wit",
    inline: "
        package kobana:runtime;

        world host {
            import kobana:api/dispatch@0.1.0;
        }
    ",
    world: "kobana:runtime/host",
    imports: {
        "kobana:api/dispatch.authenticate": async | trappable,
        "kobana:api/dispatch.[method]caller.call": async | trappable,
        "kobana:api/dispatch.[method]caller.prepare": async | trappable,
        "kobana:api/dispatch.[method]caller.suggest": async | trappable,
        "kobana:api/dispatch.[method]caller.issue-confirmation": async | trappable,
        "kobana:api/dispatch.[method]caller.redeem-confirmation": async | trappable,
        "kobana:api/dispatch.[method]caller.refuse-confirmation": async | trappable,
        "kobana:api/dispatch.[method]caller.offers": async | trappable,
        "kobana:api/dispatch.[method]caller.find-offer": async | trappable,
        "kobana:api/dispatch.[method]caller.use-offer": async | trappable,
        "kobana:api/dispatch.[method]caller.seal": async | trappable,
        "kobana:api/dispatch.[method]caller.open": async | trappable,
        default: trappable,
    },
    with: {
        "kobana:api/dispatch.caller": Handle,
    },
    require_store_data_send: true,
});

/// The export `kobana:api/exchange`. Apart from the imports, since what is given to it is borrowed.
pub mod typed {
    wasmtime::component::bindgen!({
        path: "../../wit",
        inline: "
            package kobana:runtime;

            world typed {
                export kobana:api/exchange@0.1.0;
            }
        ",
        world: "kobana:runtime/typed",
        exports: { default: async },
        ownership: Borrowing { duplicate_if_necessary: true },
        require_store_data_send: true,
    });
}
