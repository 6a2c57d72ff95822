"""The table: medians of the rounds, ratios within them, and the targets."""
import statistics
import textwrap

WIDTH = 120


def medians(result):
    """`{(workload, connections, server): numbers}`"""
    table = {}
    for entry in result["runs"]:
        numbers = {name: statistics.median(run[name] for run in entry["runs"]) for name in ("rate", "p50", "p99", "cpu")}
        table[entry["workload"], entry["connections"], entry["server"]] = numbers
    return table


def ratios(result, number):
    """Of two servers in the same round, the median over the rounds: `ratio(workload, connections, one, other)`, or none."""
    runs = {(entry["workload"], entry["connections"], entry["server"]): entry["runs"] for entry in result["runs"]}

    def ratio(workload, connections, one, other):
        pairs = zip(runs.get((workload, connections, one), ()), runs.get((workload, connections, other), ()))
        values = [mine[number] / theirs[number] for mine, theirs in pairs if theirs[number]]
        return statistics.median(values) if values else None

    return ratio


def duration(microseconds):
    return f"{microseconds:.0f} µs" if microseconds < 1_000 else f"{microseconds / 1e3:.3g} ms" if microseconds < 1e6 else f"{microseconds / 1e6:.3g} s"


def aligned(rows, left=1):
    """Columns as wide as their widest cell; the first `left` of them begin, the others end in line."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    pad = lambda place, cell: cell.ljust(widths[place]) if place < left else cell.rjust(widths[place])
    return ["  ".join(pad(place, cell) for place, cell in enumerate(row)).rstrip() for row in rows]


def text(result, workloads):
    table, ratio = medians(result), ratios(result, "rate")
    lines = [f"{name:<15} {value}" for name, value in result["about"].items()]
    lines.append(f"{'runs':<15} {result['rounds']} rounds of {result['seconds']} s each, medians; × is the median of the ratios of req/s within a round")
    lines = [line for long in lines for line in textwrap.wrap(long, WIDTH, subsequent_indent=" " * 16)] + [""]
    rows = [("workload, connections", "server", "req/s", "p50", "p99", "CPU s per 1,000", "× rmcp", "× twin")]
    last = None
    for (workload, connections, server), numbers in sorted(table.items(), key=order(workloads, table)):
        times = lambda other: "" if (value := ratio(workload, connections, server, other)) is None or server == other else f"{value:.2f}"
        what = f"{workload}, {connections}"
        rows.append(("" if what == last else what, server, f"{numbers['rate']:,.0f}", duration(numbers["p50"]),
                     duration(numbers["p99"]), f"{numbers['cpu'] / 1e3:.3f}", times("rmcp"), times("twin")))
        last = what
    lines += aligned(rows, left=2)
    lines += [""] + aligned([("memory", "idle", "afterwards")] + [
        (name, f"{idle:.0f} MB", f"{after:.0f} MB") for name, (idle, after) in result["memory"].items()])
    lines += ["", "what is asked"]
    for one in workloads:
        lines += textwrap.wrap(one.about, WIDTH, initial_indent=f"  {one.name:<18}", subsequent_indent=" " * 20)
    return "\n".join(lines + [""] + targets(result))


def order(workloads, table):
    names, servers = [one.name for one in workloads], list(dict.fromkeys(key[2] for key in table))
    return lambda entry: (names.index(entry[0][0]), entry[0][1], servers.index(entry[0][2]))


def targets(result):
    """Which targets are met. A rate is better when it is higher, a time when it is lower."""
    rate, late = ratios(result, "rate"), ratios(result, "p99")
    start = result["start"]
    wanted = [
        ("constant tool, 32 connections, × rmcp", rate("constant tool", 32, "kobana", "rmcp"), ">=", 1.5),
        ("constant tool, 32 connections, × twin", rate("constant tool", 32, "kobana", "twin"), ">=", 0.75),
        ("constant tool, 32 connections, × TypeScript", rate("constant tool", 32, "kobana", "typescript"), ">=", 15),
        ("emails_list, 32 connections, × twin", rate("emails_list", 32, "kobana", "twin"), ">=", 0.85),
        ("constant tool, 256 connections, p99, × rmcp", late("constant tool", 256, "kobana", "rmcp"), "<=", 1),
        ("from start to the first answer of a tool, ms", start, "<=", 300),
    ]
    rows = [("target", "wanted", "measured", "")]
    for name, value, way, bound in wanted:
        if value is None:
            rows.append((name, f"{way} {bound}", "-", "not run"))
        else:
            met = value >= bound if way == ">=" else value <= bound
            rows.append((name, f"{way} {bound}", f"{value:.3g}", "yes" if met else "no"))
    return aligned(rows)
