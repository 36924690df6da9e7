# Tokens in, the layer-by-layer flow of heat between them out.
rule diffusion:
    input:
        lambda wc: plan.parents("diffusion", wc.name),
    output:
        "results/diffusion/{name}.nc",
    log:
        "logs/diffusion/{name}.log",
    benchmark:
        "logs/diffusion/{name}.jsonl"
    threads: 1
    resources:
        mem_mb=lambda wc, attempt: plan.memory("diffusion", wc.name, attempt),
        runtime=lambda wc: plan.minutes("diffusion", wc.name),
    params:
        recipe=lambda wc: plan.recipe("diffusion", wc.name),
        code=lambda wc: plan.code("diffusion", wc.name),
    message:
        "{output[0]}"
    shell:
        "python -m lowpass make {params.recipe:q} --code {params.code} --in {input} --out {output} 2> {log}"
