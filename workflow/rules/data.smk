# A recipe, and for real input a data file, in; tokens or observations out.
rule generate:
    input:
        lambda wc: plan.parents("data", wc.name),
    output:
        "results/data/{name}.nc",
    log:
        "logs/data/{name}.log",
    benchmark:
        "logs/data/{name}.jsonl"
    threads: 1
    resources:
        mem_mb=lambda wc, attempt: plan.memory("data", wc.name, attempt),
        runtime=lambda wc: plan.minutes("data", wc.name),
    params:
        recipe=lambda wc: plan.recipe("data", wc.name),
        code=lambda wc: plan.code("data", wc.name),
    message:
        "{output[0]}"
    shell:
        "python -m lowpass make {params.recipe:q} --code {params.code} --in {input:q} --out {output} 2> {log}"
