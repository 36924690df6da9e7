# Claims, figures and experiments in, the paper out.
rule typeset:
    input:
        lambda wc: plan.parents("paper", wc.name),
    output:
        "results/paper/{name}.pdf",
    log:
        "logs/paper/{name}.log",
    benchmark:
        "logs/paper/{name}.jsonl"
    threads: 1
    resources:
        mem_mb=lambda wc, attempt: plan.memory("paper", wc.name, attempt),
        runtime=lambda wc: plan.minutes("paper", wc.name),
    params:
        recipe=lambda wc: plan.recipe("paper", wc.name),
        code=lambda wc: plan.code("paper", wc.name),
    message:
        "{output[0]}"
    shell:
        "python -m lowpass make {params.recipe:q} --code {params.code} --in {input} --out {output} 2> {log}"
