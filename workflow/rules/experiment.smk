# All points of an experiment in, one dataset with the swept parameters as dimensions out.
# The command names no inputs, since there may be thousands: the job expands its recipe again.
rule experiment:
    input:
        lambda wc: plan.parents("experiment", wc.name),
    output:
        "results/experiment/{name}.nc",
    log:
        "logs/experiment/{name}.log",
    benchmark:
        "logs/experiment/{name}.jsonl"
    threads: 1
    resources:
        mem_mb=lambda wc, attempt: plan.memory("experiment", wc.name, attempt),
        runtime=lambda wc: plan.minutes("experiment", wc.name),
    params:
        recipe=lambda wc: plan.recipe("experiment", wc.name),
        code=lambda wc: plan.code("experiment", wc.name),
    message:
        "{output[0]}"
    shell:
        "python -m lowpass make {params.recipe:q} --code {params.code} --out {output} 2> {log}"
