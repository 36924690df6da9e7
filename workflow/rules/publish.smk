# Every final product in, copies of paper and claims under fixed names and their manifest out.
rule publish:
    input:
        lambda wc: plan.gathered(),
    output:
        plan.published(),
    log:
        "logs/publish.log",
    threads: 1
    params:
        recipe=plan.publication(),
    message:
        "{output[0]}"
    shell:
        "python -m lowpass publish --in {input} --out {output} 2> {log}"
