"""The models that scripts/make-model makes. A kind of model says which tensors there are, and a format writes them."""
