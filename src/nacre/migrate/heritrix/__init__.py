"""Jobs of Heritrix: beans of version 3, an order of version 1; both become one form, then a job."""
