# Observations in; weights, fits and criteria out.
rule smoothing:
    input:
        lambda wc: plan.parents("smoothing", wc.name),
    output:
        "results/smoothing/{name}.nc",
    log:
        "logs/smoothing/{name}.log",
    benchmark:
        "logs/smoothing/{name}.jsonl"
    threads: 1
    resources:
        mem_mb=lambda wc, attempt: plan.memory("smoothing", wc.name, attempt),
        runtime=lambda wc: plan.minutes("smoothing", wc.name),
    params:
        recipe=lambda wc: plan.recipe("smoothing", wc.name),
        code=lambda wc: plan.code("smoothing", wc.name),
    message:
        "{output[0]}"
    shell:
        "python -m lowpass make {params.recipe:q} --code {params.code} --in {input} --out {output} 2> {log}"
