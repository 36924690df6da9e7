# Every final product in, copies of paper and claims under fixed names and their manifest out.
rule publish:
    input:
        plan.finals(),
    output:
        plan.published(),
    log:
        "logs/publish.log",
    params:
        recipe=plan.publication(),
    threads: 1
    shell:
        "python -m lowpass publish --in {input} --out {output} 2> {log}"
