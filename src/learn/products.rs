//! Products that gradients are made of.

use crate::engine::kernels::{Weight, matmul};
use crate::engine::{ComputeError, Device, Tensor};

/// `left^T right`: (R, L) and (R, W) give (L, W).
///
/// The kernel multiplies rows by rows, so both matrices are transposed first.
pub(crate) fn product_of_columns(
    device: &Device,
    left: &[f32],
    left_width: usize,
    right: &Tensor,
) -> Result<Vec<f32>, ComputeError> {
    let rows = right.rows();
    let left = Tensor::new(&[left_width, rows], transposed(left, left_width))?;
    let right = Tensor::new(&[right.width(), rows], transposed(right.data(), right.width()))?;
    Ok(matmul(device, &left, &Weight::new(device, &right), None)?.to_host()?.into_data())
}

/// The columns of a row-major matrix, one after another.
pub(super) fn transposed(matrix: &[f32], width: usize) -> Vec<f32> {
    /// Rows and columns moved together, so that both sides stay in near memory.
    const BLOCK: usize = 32;
    let rows = matrix.len() / width;
    let mut columns = vec![0.0; matrix.len()];
    for first_row in (0..rows).step_by(BLOCK) {
        for first_column in (0..width).step_by(BLOCK) {
            for column in first_column..(first_column + BLOCK).min(width) {
                for row in first_row..(first_row + BLOCK).min(rows) {
                    columns[column * rows + row] = matrix[row * width + column];
                }
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_of_columns_is_the_one_worked_by_hand() {
        let left = [1.0, 2.0, 3.0, 4.0];
        let right = Tensor::new(&[2, 3], vec![1.0, 0.0, 2.0, 0.0, 1.0, 1.0]).unwrap();
        let product = product_of_columns(&Device::cpu(), &left, 2, &right).unwrap();
        assert_eq!(product, [1.0, 3.0, 5.0, 2.0, 4.0, 8.0]);
    }

    #[test]
    fn transposing_twice_gives_the_matrix_back() {
        let matrix: Vec<f32> = (0..70 * 37).map(|i| i as f32).collect();
        assert_eq!(transposed(&matrix, 37)[1], 37.0);
        assert_eq!(transposed(&transposed(&matrix, 37), 70), matrix);
    }
}
