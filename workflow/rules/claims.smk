# Experiments in, the verdict on every claim out.
rule judge:
    input:
        lambda wc: plan.parents("claims", wc.name),
    output:
        "results/claims/{name}.json",
    log:
        "logs/claims/{name}.log",
    benchmark:
        "logs/claims/{name}.jsonl"
    threads: 1
    resources:
        mem_mb=lambda wc, attempt: plan.memory("claims", wc.name, attempt),
        runtime=lambda wc: plan.minutes("claims", wc.name),
    params:
        recipe=lambda wc: plan.recipe("claims", wc.name),
        code=lambda wc: plan.code("claims", wc.name),
    message:
        "{output[0]}"
    shell:
        "python -m lowpass make {params.recipe:q} --code {params.code} --in {input} --out {output} 2> {log}"
