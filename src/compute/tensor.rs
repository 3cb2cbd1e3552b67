//! A dense f32 array with its shape.
//!
//! Row-major. Kernels see a tensor as a matrix: the last dimension is its *width*, all others
//! together are its *rows*.

use super::ComputeError;

/// A dense row-major f32 array.
///
/// ```
/// use fnstore::compute::Tensor;
/// let tensor = Tensor::new(&[2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(tensor.row(1), [4.0, 5.0, 6.0]);
/// # Ok::<(), fnstore::compute::ComputeError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    data: Vec<f32>,
}

impl Tensor {
    /// A tensor over existing numbers.
    ///
    /// # Errors
    /// When the shape is empty or does not multiply to the number of elements.
    pub fn new(shape: &[usize], data: Vec<f32>) -> Result<Self, ComputeError> {
        if shape.is_empty() || shape.iter().product::<usize>() != data.len() {
            return Err(ComputeError::Shape {
                op: "a tensor",
                operand: "data",
                expected: shape.to_vec(),
                found: vec![data.len()],
            });
        }
        Ok(Self { shape: shape.to_vec(), data })
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, width: usize) -> Self {
        Self { shape: vec![rows, width], data: vec![0.0; rows * width] }
    }

    /// The shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The last dimension.
    pub fn width(&self) -> usize {
        self.shape.last().copied().unwrap_or(0)
    }

    /// The product of all dimensions but the last.
    pub fn rows(&self) -> usize {
        self.shape[..self.shape.len() - 1].iter().product()
    }

    /// One row, `width` numbers.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> &[f32] {
        let width = self.width();
        &self.data[row * width..(row + 1) * width]
    }

    /// All numbers, row by row.
    pub fn data(&self) -> &[f32] {
        &self.data
    }

    /// All numbers, row by row.
    pub(super) fn data_mut(&mut self) -> &mut [f32] {
        &mut self.data
    }

    /// The numbers without the shape.
    pub fn into_data(self) -> Vec<f32> {
        self.data
    }

    /// Changes the number of rows of a matrix, keeping the first ones; additional rows are zero.
    pub fn resize_rows(&mut self, rows: usize) {
        let width = self.width();
        self.data.resize(rows * width, 0.0);
        self.shape = vec![rows, width];
    }

    /// Checks that the tensor is a matrix of `rows` x `width` for a kernel.
    pub(super) fn expect(
        &self,
        op: &'static str,
        operand: &'static str,
        rows: usize,
        width: usize,
    ) -> Result<(), ComputeError> {
        if self.rows() == rows && self.width() == width {
            return Ok(());
        }
        Err(ComputeError::Shape {
            op,
            operand,
            expected: vec![rows, width],
            found: self.shape.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_width_split_any_shape() {
        let tensor = Tensor::new(&[2, 2, 3], (0..12).map(|i| i as f32).collect()).unwrap();
        assert_eq!((tensor.rows(), tensor.width()), (4, 3));
        assert_eq!(tensor.row(3), [9.0, 10.0, 11.0]);
        let vector = Tensor::new(&[5], vec![0.0; 5]).unwrap();
        assert_eq!((vector.rows(), vector.width()), (1, 5));
    }

    #[test]
    fn a_shape_that_does_not_fit_its_data_is_an_error() {
        assert!(Tensor::new(&[2, 3], vec![0.0; 5]).is_err());
        assert!(Tensor::new(&[], vec![0.0]).is_err());
        let message = Tensor::new(&[4], vec![0.0; 3]).unwrap_err().to_string();
        assert!(message.contains("[3]") && message.contains("[4]"), "{message}");
    }

    #[test]
    fn resizing_keeps_the_first_rows() {
        let mut tensor = Tensor::new(&[1, 2], vec![1.0, 2.0]).unwrap();
        tensor.resize_rows(2);
        assert_eq!(tensor.data(), [1.0, 2.0, 0.0, 0.0]);
        assert_eq!(tensor.shape(), [2, 2]);
    }
}
