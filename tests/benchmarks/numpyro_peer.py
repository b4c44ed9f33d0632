"""NumPyro's NUTS on the same model with explicit difficulties; run as a process of its own per precision.

`python numpyro_peer.py DATA.npz float32|float64 CHAINS WARMUP DRAWS` prints one line of JSON. The likelihood
is written in its fastest form there (margins and one matrix of softplus; with a guessing floor in the data,
the answers themselves), difficulties sum to zero, chains run in parallel, and compilation is not counted.
"""

from __future__ import annotations

import json
import os
import sys
import time

import numpy as np


def main(data: str, precision: str, chains: int, warmup: int, draws: int) -> None:
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={min(chains, os.cpu_count() or 1)}"
    os.environ["JAX_ENABLE_X64"] = "1" if precision == "float64" else "0"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS, init_to_value

    kept = np.load(data)
    kind = jnp.float64 if precision == "float64" else jnp.float32
    n = int(kept["models"])
    blocks = [
        {k: jnp.asarray(kept[f"{k}_{s}"], kind) for k in ("cell_total", "item_total")} for s in ("ca", "cs")
    ]
    chance = float(kept["chance"]) if "chance" in kept else 0.0
    answers = [jnp.asarray(kept[f"answers_{s}"], kind) for s in ("ca", "cs")] if chance else []
    spread_prior, difficulty_prior = kept["prior_spread"], kept["prior_difficulty"]

    def model() -> None:
        sigma = numpyro.sample(
            "sigma_b",
            dist.LogNormal(np.log(difficulty_prior[0]), difficulty_prior[1]).expand([2]),
        )
        items = np.array([len(b["item_total"]) for b in blocks])
        population = sigma * np.sqrt(items / (items - 1))
        spread = numpyro.sample(
            "spread", dist.LogNormal(np.log(spread_prior[0]), spread_prior[1]).expand([4])
        )
        root = numpyro.sample("root", dist.LKJCholesky(4, float(kept["prior_correlation"])))
        mean = numpyro.sample("mean", dist.ImproperUniform(dist.constraints.real_vector, (), (4,)))
        for s in (0, 1):
            level = jnp.sqrt(float(kept["prior_level"]) ** 2 + population[s] ** 2 / items[s])
            pair = mean[2 * s : 2 * s + 2]
            numpyro.factor(f"level_{s}", dist.Normal(0, level).log_prob(pair.mean()))
            numpyro.factor(f"gap_{s}", dist.Normal(0, float(kept["prior_gap"])).log_prob(pair[0] - pair[1]))
        scaled = spread[:, None] * root
        ability = numpyro.sample("ability", dist.MultivariateNormal(mean, scale_tril=scaled).expand([n]))
        for s, block in enumerate(blocks):
            b = numpyro.sample(f"b_{s}", dist.ZeroSumNormal(population[s], event_shape=(int(items[s]),)))
            theta = ability[:, 2 * s : 2 * s + 2].T.reshape(-1)
            eta = theta[:, None] - b
            if chance:
                right = jnp.log(chance + jnp.exp(eta)) * answers[s]
                numpyro.factor(f"answers_{s}", (right - jax.nn.softplus(eta)).sum())
                continue
            total = block["cell_total"] @ theta - block["item_total"] @ b
            numpyro.factor(f"answers_{s}", total - jax.nn.softplus(eta).sum())
        gap = ability[:, 0] - ability[:, 1], ability[:, 2] - ability[:, 3]
        numpyro.deterministic("knowledge_gap", gap[1] - gap[0])

    start = {"ability": kept["ability"], "mean": kept["ability"].mean(axis=0), "sigma_b": kept["sigma_b"]}
    start |= {"b_0": kept["difficulty_ca"], "b_1": kept["difficulty_cs"]}
    start = {k: jnp.asarray(v, kind) for k, v in start.items()}
    kernel = NUTS(model, target_accept_prob=0.8, init_strategy=init_to_value(values=start))
    run = MCMC(
        kernel,
        num_warmup=warmup,
        num_samples=draws,
        num_chains=chains,
        chain_method="parallel",
        progress_bar=False,
    )
    key = jax.random.PRNGKey(1)
    run.warmup(key, extra_fields=("num_steps",))  # compiles both loops
    run.run(key, extra_fields=("num_steps",))
    began = time.perf_counter()
    run.warmup(key, extra_fields=("num_steps",))
    run.run(key, extra_fields=("num_steps",))
    seconds = time.perf_counter() - began
    values = np.asarray(run.get_samples(group_by_chain=True)["knowledge_gap"], dtype=float)
    steps = float(np.asarray(run.get_extra_fields()["num_steps"]).mean())
    np.savez(f"{data}.{precision}.npz", knowledge_gap=values)
    print(json.dumps({"seconds": seconds, "steps": steps}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]))
