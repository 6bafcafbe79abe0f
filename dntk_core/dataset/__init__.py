"""Dataset distillation: from n training images to m kernel inputs, synthesised (WMDD) or selected."""
