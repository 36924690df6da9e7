"""What would run, and why: asked of the plan, the results and Snakemake's memory."""
