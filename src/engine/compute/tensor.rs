//! A dense f32 array with its shape.
//!
//! Row-major. Kernels see a tensor as a matrix: the last dimension is its *width*, all others
//! together are its *rows*.
//!
//! Its numbers lie in the host's memory or in a GPU's. What a kernel makes stays on the kernel's
//! device; looking at it means asking for it ([`Tensor::to_host`]), so no copy hides in an
//! accessor.

use std::borrow::Cow;

use super::gpu::{Buffer, Gpu};
use super::{ComputeError, Device};

/// A dense row-major f32 array.
///
/// ```
/// use fnstore::engine::Tensor;
/// let tensor = Tensor::new(&[2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(tensor.row(1), [4.0, 5.0, 6.0]);
/// # Ok::<(), fnstore::engine::ComputeError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    storage: Storage,
}

/// Where the numbers are.
#[derive(Debug, Clone, PartialEq)]
enum Storage {
    Host(Vec<f32>),
    Gpu { gpu: Gpu, buffer: Buffer },
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
        Ok(Self { shape: shape.to_vec(), storage: Storage::Host(data) })
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, width: usize) -> Self {
        Self { shape: vec![rows, width], storage: Storage::Host(vec![0.0; rows * width]) }
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

    /// The same numbers under another shape.
    ///
    /// # Errors
    /// When the shape is empty or does not multiply to the number of elements.
    pub fn reshaped(self, shape: &[usize]) -> Result<Self, ComputeError> {
        if shape.is_empty() || shape.iter().product::<usize>() != self.len() {
            return Err(ComputeError::Shape {
                op: "another shape",
                operand: "tensor",
                expected: shape.to_vec(),
                found: self.shape,
            });
        }
        Ok(Self { shape: shape.to_vec(), ..self })
    }

    /// A matrix with rows and columns exchanged.
    ///
    /// # Panics
    /// When the tensor lies on a GPU.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let (rows, width, data) = (self.rows(), self.width(), self.data());
        let numbers =
            (0..width).flat_map(|column| (0..rows).map(move |row| data[row * width + column]));
        Self { shape: vec![width, rows], storage: Storage::Host(numbers.collect()) }
    }

    /// One row, `width` numbers.
    ///
    /// # Panics
    /// When there is no such row, or the tensor lies on a GPU.
    pub fn row(&self, row: usize) -> &[f32] {
        let width = self.width();
        &self.data()[row * width..(row + 1) * width]
    }

    /// All numbers, row by row.
    ///
    /// # Panics
    /// When the tensor lies on a GPU; [`to_host`](Self::to_host) fetches it.
    pub fn data(&self) -> &[f32] {
        match &self.storage {
            Storage::Host(data) => data,
            Storage::Gpu { .. } => panic!("the tensor lies on a GPU; fetch it with `to_host`"),
        }
    }

    /// All numbers, row by row.
    pub(super) fn data_mut(&mut self) -> &mut [f32] {
        match &mut self.storage {
            Storage::Host(data) => data,
            Storage::Gpu { .. } => panic!("the tensor lies on a GPU; fetch it with `to_host`"),
        }
    }

    /// The numbers without the shape.
    ///
    /// # Panics
    /// When the tensor lies on a GPU.
    pub fn into_data(self) -> Vec<f32> {
        match self.storage {
            Storage::Host(data) => data,
            Storage::Gpu { .. } => panic!("the tensor lies on a GPU; fetch it with `to_host`"),
        }
    }

    /// The tensor in the host's memory; waits for the GPU where it lies there.
    ///
    /// # Errors
    /// When the GPU failed.
    pub fn to_host(self) -> Result<Self, ComputeError> {
        let data = match &self.storage {
            Storage::Host(_) => return Ok(self),
            Storage::Gpu { gpu, buffer } => gpu.download(buffer, self.len())?,
        };
        Ok(Self { storage: Storage::Host(data), ..self })
    }

    /// The tensor in the memory of a device.
    ///
    /// # Errors
    /// When the GPU has no room or failed.
    pub fn to_device(self, device: &Device) -> Result<Self, ComputeError> {
        match (device, &self.storage) {
            (Device::Gpu(gpu), Storage::Gpu { gpu: own, .. }) if gpu == own => Ok(self),
            (Device::Gpu(gpu), _) => {
                let host = self.to_host()?;
                let buffer = gpu.upload(host.data())?;
                Ok(Self::on_gpu(gpu, &host.shape, buffer))
            }
            (Device::Cpu { .. }, _) => self.to_host(),
        }
    }

    /// The tensor as a device takes it: a copy in its memory where it is elsewhere.
    ///
    /// # Errors
    /// As [`to_device`](Self::to_device).
    pub(crate) fn on(&self, device: &Device) -> Result<Cow<'_, Self>, ComputeError> {
        let is_there = match (device, &self.storage) {
            (Device::Gpu(gpu), Storage::Gpu { gpu: own, .. }) => gpu == own,
            (Device::Cpu { .. }, Storage::Host(_)) => true,
            _ => false,
        };
        Ok(if is_there { Cow::Borrowed(self) } else { Cow::Owned(self.clone().to_device(device)?) })
    }

    /// A tensor over memory of a GPU, which holds at least as many numbers.
    pub(super) fn on_gpu(gpu: &Gpu, shape: &[usize], buffer: Buffer) -> Self {
        Self { shape: shape.to_vec(), storage: Storage::Gpu { gpu: gpu.clone(), buffer } }
    }

    /// A matrix on a GPU whose numbers are yet to be written.
    pub(super) fn unwritten(gpu: &Gpu, rows: usize, width: usize) -> Result<Self, ComputeError> {
        Ok(Self::on_gpu(gpu, &[rows, width], gpu.allocate(rows * width)?))
    }

    /// The memory, where it is this GPU's.
    pub(super) fn buffer(&self, gpu: &Gpu) -> Option<&Buffer> {
        match &self.storage {
            Storage::Gpu { gpu: own, buffer } if own == gpu => Some(buffer),
            _ => None,
        }
    }

    /// Brings the numbers to a GPU, into memory that this tensor alone holds, to be written there.
    pub(super) fn own_buffer(&mut self, gpu: &Gpu) -> Result<Buffer, ComputeError> {
        if let Storage::Gpu { gpu: own, buffer } = &self.storage
            && own == gpu
            && buffer.is_unshared()
        {
            return Ok(buffer.clone());
        }
        let buffer = match self.buffer(gpu) {
            Some(shared) => gpu.grow(shared, self.len(), self.len())?,
            None => gpu.upload(&self.host_data()?)?,
        };
        self.storage = Storage::Gpu { gpu: gpu.clone(), buffer: buffer.clone() };
        Ok(buffer)
    }

    /// The numbers, fetched where they lie on a GPU.
    pub(super) fn host_data(&self) -> Result<Cow<'_, [f32]>, ComputeError> {
        Ok(match &self.storage {
            Storage::Host(data) => Cow::Borrowed(data),
            Storage::Gpu { gpu, buffer } => Cow::Owned(gpu.download(buffer, self.len())?),
        })
    }

    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Changes the number of rows of a matrix, keeping the first ones; additional rows are zero.
    ///
    /// # Errors
    /// When the tensor lies on a GPU that has no room.
    pub fn resize_rows(&mut self, rows: usize) -> Result<(), ComputeError> {
        let (width, kept) = (self.width(), self.rows().min(rows));
        match &mut self.storage {
            Storage::Host(data) => data.resize(rows * width, 0.0),
            Storage::Gpu { gpu, buffer } => {
                *buffer = gpu.grow(buffer, kept * width, rows * width)?;
            }
        }
        self.shape = vec![rows, width];
        Ok(())
    }

    /// Takes rows beyond so many away from a matrix; their memory stays where it is on a GPU.
    pub fn truncate_rows(&mut self, rows: usize) {
        let (width, kept) = (self.width(), self.rows().min(rows));
        if let Storage::Host(data) = &mut self.storage {
            data.truncate(kept * width);
        }
        self.shape = vec![kept, width];
    }

    /// The memory of the numbers, to be used again; none where they lie on a GPU. The tensor is
    /// left without rows.
    pub(super) fn take_memory(&mut self) -> Vec<f32> {
        let empty = Self::zeros(0, self.width());
        match std::mem::replace(self, empty).storage {
            Storage::Host(data) => data,
            Storage::Gpu { .. } => Vec::new(),
        }
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
    use super::super::error::refusal;
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
        assert_eq!(refusal(Tensor::new(&[2, 3], vec![0.0; 5])), "shape of data");
        assert_eq!(refusal(Tensor::new(&[], vec![0.0])), "shape of data");
        let message = Tensor::new(&[4], vec![0.0; 3]).unwrap_err().to_string();
        assert!(message.contains("[3]") && message.contains("[4]"), "{message}");
    }

    #[test]
    fn another_shape_holds_the_same_numbers() {
        let tensor = Tensor::new(&[1, 6], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let tensor = tensor.reshaped(&[3, 2]).unwrap();
        assert_eq!((tensor.rows(), tensor.row(2)), (3, &[5.0, 6.0][..]));
        let error = tensor.reshaped(&[4, 2]).unwrap_err();
        assert!(matches!(error, ComputeError::Shape { operand: "tensor", .. }), "{error}");
    }

    #[test]
    fn resizing_keeps_the_first_rows() {
        let mut tensor = Tensor::new(&[1, 2], vec![1.0, 2.0]).unwrap();
        tensor.resize_rows(2).unwrap();
        assert_eq!(tensor.data(), [1.0, 2.0, 0.0, 0.0]);
        assert_eq!(tensor.shape(), [2, 2]);
    }
}
