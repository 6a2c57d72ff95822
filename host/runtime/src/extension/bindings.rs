//! The world `kobana:extension/extension` for the host, as wasmtime sees it.

wasmtime::component::bindgen!({
    path: "../../wit/extension",
    world: "extension",
    imports: {
        "kobana:extension/api.call": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    require_store_data_send: true,
});
