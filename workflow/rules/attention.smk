# Tokens in, layer-by-layer trajectories out.
rule attention:
    input:
        lambda wc: plan.parents("attention", wc.name),
    output:
        "results/attention/{name}.nc",
    log:
        "logs/attention/{name}.log",
    benchmark:
        "logs/attention/{name}.jsonl"
    threads: 1
    resources:
        mem_mb=lambda wc, attempt: plan.memory("attention", wc.name, attempt),
        runtime=lambda wc: plan.minutes("attention", wc.name),
    params:
        recipe=lambda wc: plan.recipe("attention", wc.name),
        code=lambda wc: plan.code("attention", wc.name),
    message:
        "{output[0]}"
    shell:
        "python -m lowpass make {params.recipe:q} --code {params.code} --in {input} --out {output} 2> {log}"
