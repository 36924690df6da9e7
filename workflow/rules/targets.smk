# Names a person asks for: kinds of products, and every experiment with its figures.
for kind in ("data", "figures", "claims", "paper"):

    rule:
        name:
            kind
        input:
            plan.published() if kind == "paper" else plan.targets(kind),


for experiment in plan.experiments:

    rule:
        name:
            experiment
        input:
            plan.targets(experiment),
