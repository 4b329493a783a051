"""Where the course and the results of a sweep are told: plain files always, MLflow by default."""
