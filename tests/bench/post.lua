-- The one request of a measurement; wrk has no other way to send a body.
wrk.method = "POST"
wrk.body = os.getenv("BODY")
wrk.headers["Authorization"] = "Bearer demo-bench"
wrk.headers["Content-Type"] = "application/json"
