-- One measurement: the same request again and again, and what came of it as one line of JSON.
-- wrk has no other way to send a body, and its own report rounds.
local file = assert(io.open(os.getenv("BODY"), "rb"))
wrk.method = "POST"
wrk.body = file:read("*a")
file:close()
for line in os.getenv("HEADERS"):gmatch("[^\n]+") do
  local name, value = line:match("^(%S+): (.*)$")
  wrk.headers[name] = value
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"bytes":%d,"p50":%d,"p99":%d,"max":%d,"bad":%d,"broken":%d,"late":%d}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99), latency.max,
    errors.status, errors.connect + errors.read + errors.write, errors.timeout))
end
