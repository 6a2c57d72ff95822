//! The founding page as a checklist: each test is named after a sentence of the page, in the page's own order and language,
//! so that page and tests can be read side by side. What a sentence means in every detail is tested in the other modules.

use serde_json::{Value, json};

use crate::harness::{Call, ENVELOPE, MODERN, Server, envelope, nonce, shared};

const LEGACY: [&str; 2] = ["2025-06-18", "2025-03-26"];

fn read_tool(server: &Server) -> Call {
    server.modern("tools/call").name("emails_list").arguments(json!({ "limit": 1 }))
}

mod transporte {
    use super::*;

    #[test]
    fn uma_mensagem_json_rpc_por_post_uma_resposta_json() {
        let answer = shared().modern("tools/list").send();
        answer.has("content-type", "application/json");
        assert!(answer.result().is_object());
    }

    #[test]
    fn nao_ha_mcp_session_id() {
        let initialize = shared().legacy("initialize").params(json!({ "protocolVersion": "2025-06-18" }));
        initialize.send().lacks("mcp-session-id");
        shared().legacy("tools/list").header("Mcp-Session-Id", "s-1").send().lacks("mcp-session-id").is(200);
    }

    #[test]
    fn nao_ha_resumability_e_nao_ha_stream_servidor_cliente() {
        let call = shared().http("GET", "/mcp").token("demo-owner").header("Accept", "text/event-stream");
        call.header("Last-Event-ID", "9").send().is(405).has("allow", "POST");
    }
}

mod versoes_de_protocolo {
    use super::*;

    #[test]
    fn o_servidor_fala_duas_eras_no_mesmo_endpoint() {
        shared().modern("tools/list").send().result();
        for version in LEGACY {
            shared().legacy("tools/list").version(version).send().result();
        }
    }

    #[test]
    fn o_padrao_quando_o_cliente_nao_envia_o_header_e_2025_06_18() {
        shared().legacy("ping").send().has("mcp-protocol-version", "2025-06-18");
    }

    #[test]
    fn a_era_e_decidida_pelo_body_com_os_headers_servindo_de_conferencia() {
        let claimed = shared().legacy("tools/list").params(json!({ "_meta": envelope() }));
        claimed.send().fails(400, -32020);
        claimed.version(MODERN).header("Mcp-Method", "tools/list").send().result();
    }

    #[test]
    fn header_2026_sem_o_envelope_recebe_400_com_32602() {
        shared().legacy("tools/list").version(MODERN).send().fails(400, -32602);
    }

    #[test]
    fn uma_versao_que_o_servidor_nao_fala_recebe_400_com_32022_listando_as_suportadas() {
        let expected = json!({ "supported": ["2026-07-28", "2025-06-18", "2025-03-26"], "requested": "1999-01-01" });
        let by_header = shared().legacy("tools/list").version("1999-01-01").send().fails(400, -32022);
        assert_eq!(by_header["message"], "Unsupported protocol version");
        assert_eq!(by_header["data"], expected);
        let mut meta = envelope();
        meta[ENVELOPE[0]] = json!("1999-01-01");
        let by_envelope = shared().modern("tools/list").version("1999-01-01").meta(meta).send();
        assert_eq!(by_envelope.fails(400, -32022)["data"], expected);
    }

    #[test]
    fn a_versao_em_uso_volta_no_header_de_resposta() {
        shared().modern("tools/list").send().has("mcp-protocol-version", MODERN);
        for version in LEGACY {
            shared().legacy("tools/list").version(version).send().has("mcp-protocol-version", version);
        }
    }
}

mod era_2026_07_28 {
    use super::*;

    #[test]
    fn toda_requisicao_carrega_a_propria_versao_e_o_servidor_nao_guarda_nada() {
        let mut connection = shared().connect();
        shared().modern("tools/list").send_on(&mut connection).result();
        let forgotten = shared().modern("tools/list").params(json!({}));
        forgotten.send_on(&mut connection).fails(400, -32602);
    }

    #[test]
    fn um_objeto_vazio_de_capacidades_basta_e_client_info_e_so_recomendada() {
        shared().modern("tools/list").meta(envelope()).send().result();
    }

    #[test]
    fn client_capabilities_ausente_e_400_com_32602() {
        let error = shared().modern("tools/list").meta(json!({ ENVELOPE[0]: MODERN })).send().fails(400, -32602);
        assert!(error["message"].as_str().is_some_and(|text| text.contains("clientCapabilities")), "{error}");
    }

    #[test]
    fn os_headers_precisam_concordar_com_o_body() {
        let server = shared();
        for (header, value) in
            [("MCP-Protocol-Version", "2025-06-18"), ("Mcp-Method", "tools/list"), ("Mcp-Name", "me_get")]
        {
            let error = read_tool(&server).set(header, value).send().fails(400, -32020);
            assert!(error["message"].as_str().is_some_and(|text| text.starts_with("Header mismatch: ")), "{error}");
        }
    }

    #[test]
    fn mcp_name_vale_cru_ou_como_base64() {
        read_tool(&shared()).set("Mcp-Name", "=?base64?ZW1haWxzX2xpc3Q=?=").send().document();
    }

    #[test]
    fn mcp_name_so_e_exigido_em_tools_call() {
        let server = shared();
        read_tool(&server).without("Mcp-Name").send().fails(400, -32020);
        server.modern("resources/read").param("uri", json!("kobana://inbox/me")).send().result();
    }

    #[test]
    fn os_resultados_sempre_carregam_result_type_e_o_servidor_em_meta() {
        for answer in [shared().modern("tools/list").send(), read_tool(&shared()).send()] {
            let result = answer.result();
            assert_eq!(result["resultType"], "complete");
            assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "kobana-autonomous-inbox");
        }
    }

    #[test]
    fn seis_metodos_carregam_ttl_ms_0_e_cache_scope_private() {
        let server = shared();
        let cached = ["server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list"];
        let mut results: Vec<Value> = cached.iter().map(|method| server.modern(method).send().result()).collect();
        results.push(server.modern("resources/read").param("uri", json!("kobana://inbox/me")).send().result());
        for result in results {
            assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")), "{result}");
        }
        assert!(read_tool(&server).send().result().get("ttlMs").is_none());
    }

    #[test]
    fn uma_tools_call_de_tool_destrutiva_pode_voltar_com_input_required() {
        let meta = json!({ ENVELOPE[0]: MODERN, ENVELOPE[1]: { "elicitation": {} } });
        let call = shared().modern("tools/call").name("inboxes_delete").arguments(json!({ "id": "acme-old" }));
        assert_eq!(call.meta(meta).send().result()["resultType"], "input_required");
    }
}

mod headers_de_requisicao {
    use super::*;

    #[test]
    fn authorization_e_obrigatorio() {
        shared().modern("tools/list").without("Authorization").send().is(401);
    }

    #[test]
    fn content_type_e_obrigatorio_e_accept_so_recomendado() {
        shared().modern("tools/list").set("Content-Type", "text/plain").send().is(415);
        shared().modern("tools/list").without("Accept").send().result();
    }

    #[test]
    fn x_workspace_id_quando_a_organizacao_tem_mais_de_um() {
        let call = || read_tool(&shared()).token("demo-multi");
        call().send().tool_error("workspace_required");
        call().header("X-Workspace-Id", "acme").send().document();
    }

    #[test]
    fn origin_e_validado_contra_uma_allowlist() {
        shared().modern("tools/list").header("Origin", "https://evil.example").send().is(403);
        shared().modern("tools/list").header("Origin", "https://app.example.com").send().result();
    }
}

mod headers_de_resposta {
    use super::*;

    #[test]
    fn limites_em_toda_resposta_autenticada() {
        for answer in [shared().modern("tools/list").send(), shared().modern("no/such").send()] {
            for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
                answer.number(name);
            }
        }
    }

    #[test]
    fn cache_control_sempre_no_store() {
        for call in [shared().modern("tools/list"), shared().http("GET", "/mcp"), shared().http("GET", "/nowhere")] {
            call.send().has("cache-control", "no-store");
        }
    }

    #[test]
    fn retry_after_em_429() {
        let server = Server::demo().start();
        let limited = || server.modern("tools/list").token("demo-limited").send();
        let refused = (0..12).map(|_| limited()).find(|answer| answer.status == 429).expect("the allowance ends");
        assert!((1..=60).contains(&refused.number("retry-after")));
    }
}

mod metodos {
    use super::*;

    #[test]
    fn cada_metodo_na_sua_era() {
        let server = shared();
        for method in ["initialize", "ping"] {
            server.modern(method).send().fails(404, -32601);
        }
        server.legacy("ping").send().result();
        server.legacy("server/discover").send().fails(200, -32601);
    }

    #[test]
    fn qualquer_outro_metodo_e_32601_com_404_na_era_2026_e_200_na_de_2025() {
        shared().modern("logging/setLevel").send().fails(404, -32601);
        shared().legacy("logging/setLevel").send().fails(200, -32601);
    }

    #[test]
    fn um_body_em_array_recebe_400() {
        let batch = shared().legacy("ping").version("2025-03-26").body(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#);
        batch.send().fails_without_id(400, -32600);
    }

    #[test]
    fn acima_de_1048576_bytes_a_resposta_e_413_com_32600() {
        let padded = |size: usize| {
            let message = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
            shared().legacy("ping").body(format!("{message}{}", " ".repeat(size - message.len())))
        };
        padded(1_048_576).send().result();
        padded(1_048_577).send().fails_without_id(413, -32600);
    }

    #[test]
    fn uma_notificacao_e_aceita_com_202_e_corpo_vazio_nas_duas_eras() {
        shared().legacy("notifications/initialized").without_id().send().is_accepted();
        shared().modern("notifications/cancelled").without_id().send().is_accepted();
    }

    #[test]
    fn a_autenticacao_vem_antes_de_qualquer_metodo() {
        let answer = shared().modern("server/discover").without("Authorization").send();
        let challenge = answer.is(401).header("www-authenticate").expect("there is a challenge");
        assert!(challenge.starts_with("Bearer resource_metadata="), "{challenge}");
        shared().legacy("ping").without("Authorization").body("no json").send().is(401);
    }
}

mod tools {
    use super::*;

    #[test]
    fn tools_list_devolve_apenas_as_que_quem_chama_consegue_executar() {
        let names = |token: &str| {
            let result = shared().modern("tools/list").token(token).send().result();
            let tools = result["tools"].as_array().cloned().unwrap_or_default();
            tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names("demo-emails"), ["me_get", "emails_list", "emails_get"]);
        assert!(names("demo-viewer").iter().all(|name| !name.ends_with("_create") && !name.contains("webhook")));
    }

    #[test]
    fn toda_tool_carrega_annotations_e_open_world_hint_e_sempre_false() {
        for tool in shared().modern("tools/list").send().result()["tools"].as_array().expect("tools") {
            let hints = &tool["annotations"];
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint"] {
                assert!(hints[hint].is_boolean(), "{tool}");
            }
            assert_eq!(hints["openWorldHint"], false, "{tool}");
        }
    }

    #[test]
    fn o_resultado_carrega_a_resposta_json_do_endpoint_como_conteudo_de_texto() {
        let document = read_tool(&shared()).send().document();
        assert!(document["data"].is_array() && document["meta"].get("next_cursor").is_some(), "{document}");
    }

    #[test]
    fn erros_sobre_os_quais_quem_chama_pode_agir_voltam_com_is_error_true() {
        read_tool(&shared()).arguments(json!({ "limit": 1000 })).send().tool_error("validation_failed");
    }
}

mod despacho_in_process {
    use super::*;

    #[test]
    fn uma_tool_nao_consegue_divergir_do_endpoint_que_espelha() {
        let server = shared();
        let rest = server.http("GET", "/api/v1/emails?limit=1").token("rest-owner").send();
        assert_eq!(rest.is(200).json(), read_tool(&server).send().document());
    }

    #[test]
    fn o_token_mcp_nao_e_repassado_nem_aceito_pela_api() {
        shared().http("GET", "/api/v1/emails").token("demo-owner").send().is(401);
        shared().modern("tools/list").token("rest-owner").send().is(401);
    }

    #[test]
    fn um_id_nao_consegue_alcancar_outra_rota() {
        let server = shared();
        for id in ["../emails", "acme-old/../acme-support", "..", "acme-old?x=1", "acme-old%2f..", "emails"] {
            let call = server.modern("tools/call").name("inboxes_get").arguments(json!({ "id": id }));
            let result = call.send().result();
            assert_eq!(result["isError"], true, "{id}: {result}");
        }
    }

    #[test]
    fn o_endpoint_continua_exigindo_seu_proprio_escopo_e_sua_propria_permissao() {
        let server = shared();
        server.modern("tools/call").name("inboxes_list").token("demo-emails").send().is(403);
        let label = json!({ "label": nonce("viewer") });
        let call = server.modern("tools/call").name("inboxes_create").arguments(label).token("demo-viewer");
        call.send().tool_error("permission_denied");
    }
}
