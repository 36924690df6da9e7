# Experiments, or the claims, in; one figure in every format, by day and by night, out.
rule figure:
    input:
        lambda wc: plan.parents("figures", wc.name),
    output:
        report(
            "results/figures/{name}.svg",
            caption="../report/figure.rst",
            category=lambda wc: plan.section(wc.name),
            labels=lambda wc: plan.labels(wc.name),
        ),
        "results/figures/{name}.png",
        "results/figures/{name}.pdf",
        "results/figures/{name}.night.svg",
    log:
        "logs/figures/{name}.log",
    benchmark:
        "logs/figures/{name}.jsonl"
    threads: 1
    resources:
        mem_mb=lambda wc, attempt: plan.memory("figures", wc.name, attempt),
        runtime=lambda wc: plan.minutes("figures", wc.name),
    params:
        recipe=lambda wc: plan.recipe("figures", wc.name),
        code=lambda wc: plan.code("figures", wc.name),
    message:
        "{output[0]}"
    shell:
        "python -m lowpass make {params.recipe:q} --code {params.code} --in {input} --out {output} 2> {log}"
