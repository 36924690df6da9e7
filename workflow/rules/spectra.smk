# A trajectory in, one variable for each measure out.
rule spectra:
    input:
        lambda wc: plan.parents("spectra", wc.name),
    output:
        "results/spectra/{name}.nc",
    log:
        "logs/spectra/{name}.log",
    benchmark:
        "logs/spectra/{name}.jsonl"
    threads: 1
    resources:
        mem_mb=lambda wc, attempt: plan.memory("spectra", wc.name, attempt),
        runtime=lambda wc: plan.minutes("spectra", wc.name),
    params:
        recipe=lambda wc: plan.recipe("spectra", wc.name),
        code=lambda wc: plan.code("spectra", wc.name),
    message:
        "{output[0]}"
    shell:
        "python -m lowpass make {params.recipe:q} --code {params.code} --in {input} --out {output} 2> {log}"
