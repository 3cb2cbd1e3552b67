//! Steps against a gradient.

/// Steps over which the learning rate rises to its full height.
const WARM_UP: usize = 100;

/// How large steps are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    /// Learning rate after warm-up; it falls to zero over all steps.
    pub(crate) rate: f32,
    /// Weight decay of the matrices.
    pub(crate) decay: f32,
    /// Steps in all.
    pub(crate) steps: usize,
}

impl Schedule {
    /// The learning rate of a step, the first of which is 0.
    pub(crate) fn rate_of(&self, step: usize) -> f32 {
        let warm = ((step + 1) as f32 / WARM_UP as f32).min(1.0);
        self.rate * warm * (1.0 - step as f32 / self.steps as f32)
    }
}

/// A tensor that a step changes.
#[derive(Debug)]
pub(crate) struct Trained<'a> {
    /// Its numbers.
    pub(crate) values: &'a mut [f32],
    /// Their gradient.
    pub(crate) gradient: &'a [f32],
    /// Whether it decays: matrices do, not biases, slopes and scales.
    pub(crate) decays: bool,
}

/// AdamW (Loshchilov and Hutter 2019, algorithm 2): Adam with decay apart from the gradient.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AdamW {
    step: i32,
    /// First moments, tensor by tensor.
    pub(crate) first: Vec<Vec<f32>>,
    /// Second moments, in the same order.
    pub(crate) second: Vec<Vec<f32>>,
}

impl AdamW {
    /// Decay of the first and second moments.
    const BETAS: (f32, f32) = (0.9, 0.999);
    /// Added to the root of the second moment.
    const EPSILON: f32 = 1e-8;

    /// Before the first step, for tensors of these lengths.
    pub(crate) fn new(lengths: impl IntoIterator<Item = usize>) -> Self {
        let zeros: Vec<Vec<f32>> = lengths.into_iter().map(|length| vec![0.0; length]).collect();
        Self { step: 0, first: zeros.clone(), second: zeros }
    }

    /// As it was after some steps, with the moments of then.
    pub(crate) fn at(step: i32, first: Vec<Vec<f32>>, second: Vec<Vec<f32>>) -> Self {
        Self { step, first, second }
    }

    /// Steps taken.
    pub(crate) fn steps(&self) -> i32 {
        self.step
    }

    /// One step of all tensors, always in the same order, against their gradients.
    pub(crate) fn update<'a>(
        &mut self,
        tensors: impl IntoIterator<Item = Trained<'a>>,
        schedule: Schedule,
    ) {
        let rate = schedule.rate_of(self.step as usize);
        self.step += 1;
        let (beta1, beta2) = Self::BETAS;
        let correction1 = 1.0 - beta1.powi(self.step);
        let correction2 = 1.0 - beta2.powi(self.step);
        for (at, tensor) in tensors.into_iter().enumerate() {
            let shrink = if tensor.decays { 1.0 - rate * schedule.decay } else { 1.0 };
            let moments = self.first[at].iter_mut().zip(&mut self.second[at]);
            for ((value, g), (m, v)) in tensor.values.iter_mut().zip(tensor.gradient).zip(moments) {
                *m = beta1 * *m + (1.0 - beta1) * g;
                *v = beta2 * *v + (1.0 - beta2) * g * g;
                let root = (*v / correction2).sqrt() + Self::EPSILON;
                *value = *value * shrink - rate * (*m / correction1) / root;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_rises_over_a_hundred_steps_and_falls_to_zero() {
        let schedule = Schedule { rate: 0.5, decay: 0.0, steps: 1000 };
        assert_eq!(schedule.rate_of(0), 0.5 / 100.0);
        assert_eq!(schedule.rate_of(500), 0.25);
        assert!(schedule.rate_of(999) < 0.001 && schedule.rate_of(999) > 0.0);
    }

    #[test]
    fn a_first_step_goes_by_its_rate_against_the_sign_of_the_gradient() {
        // Both moments are corrected to the gradient itself, so that its size does not count.
        let schedule = Schedule { rate: 1.0, decay: 0.5, steps: 10 };
        let rate = schedule.rate_of(0);
        let (mut matrix, mut bias) = ([1.0, 1.0], [1.0]);
        let mut adam = AdamW::new([2, 1]);
        let tensors = [
            Trained { values: &mut matrix, gradient: &[3.0, -0.5], decays: true },
            Trained { values: &mut bias, gradient: &[3.0], decays: false },
        ];
        adam.update(tensors, schedule);
        let kept = 1.0 - rate * 0.5;
        for (value, expected) in
            [(matrix[0], kept - rate), (matrix[1], kept + rate), (bias[0], 1.0 - rate)]
        {
            assert!((value - expected).abs() < 1e-6, "{value} {expected}");
        }
        assert_eq!(adam.steps(), 1);
    }
}
