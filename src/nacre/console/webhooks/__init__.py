"""The webhooks: who receives what happens to jobs, quotas and schedules."""
