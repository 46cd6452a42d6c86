//! Builds `.eh_frame`, `.eh_frame_hdr` and `.debug_frame` by hand.

/// Where hand-built code begins.
pub const CODE: u64 = 0x1_0000;
/// Where the tables stand.
pub const HEADER: u64 = 0x4_f000;
/// Where the frame descriptions stand.
pub const FRAMES: u64 = 0x5_0000;

/// What a common information entry says.
#[derive(Clone)]
pub struct Cie {
    pub version: u8,
    pub augmentation: &'static [u8],
    pub code_factor: u8,
    pub return_column: u8,
    pub instructions: Vec<u8>,
}

/// The CIE that x86-64 compilers emit: CFA = rsp + 8, return address at CFA - 8.
pub fn x86_64() -> Cie {
    let instructions = vec![0x0c, 7, 8, 0x90, 1];
    Cie { version: 1, augmentation: b"zR", code_factor: 1, return_column: 16, instructions }
}

/// The CIE that aarch64 compilers emit: CFA = sp.
pub fn aarch64() -> Cie {
    Cie {
        version: 1,
        augmentation: b"zR",
        code_factor: 4,
        return_column: 30,
        instructions: vec![0x0c, 31, 0],
    }
}

/// A function: offset of its code, length, and the description of its frames.
pub struct Function {
    pub offset: u64,
    pub length: u64,
    pub cie: Cie,
    pub instructions: Vec<u8>,
}

/// A function of 0x100 bytes.
pub fn function(offset: u64, cie: Cie, instructions: &[u8]) -> Function {
    Function { offset, length: 0x100, cie, instructions: instructions.to_vec() }
}

/// The sections for some functions, sorted by offset.
#[derive(Default)]
pub struct Sections {
    pub header: Vec<u8>,
    pub frames: Vec<u8>,
}

fn entry(out: &mut Vec<u8>, wide: bool, mut body: Vec<u8>) {
    while !(body.len() + 4).is_multiple_of(8) {
        body.push(0);
    }
    if wide {
        out.extend(u32::MAX.to_le_bytes());
        out.extend((body.len() as u64).to_le_bytes());
    } else {
        out.extend((body.len() as u32).to_le_bytes());
    }
    out.extend(body);
}

fn cie_body(cie: &Cie, id: &[u8], augmentation_data: &[u8]) -> Vec<u8> {
    let mut body = id.to_vec();
    body.push(cie.version);
    body.extend(cie.augmentation);
    body.push(0);
    if cie.version == 4 {
        body.extend([8, 0]);
    }
    // The data factor is -8.
    body.extend([cie.code_factor, 0x78, cie.return_column]);
    if cie.augmentation.starts_with(b"z") {
        body.push(augmentation_data.len() as u8);
        body.extend(augmentation_data);
    }
    body.extend(&cie.instructions);
    body
}

/// `.eh_frame` with its header; pointers are pc-relative.
pub fn eh_frame(functions: &[Function]) -> Sections {
    let mut sections = Sections::default();
    let mut table = Vec::new();
    for function in functions {
        let cie_at = sections.frames.len();
        let mut data = Vec::new();
        for letter in function.cie.augmentation {
            match letter {
                b'R' => data.push(0x1b),
                b'P' => data.extend([0x9b, 1, 2, 3, 4]),
                b'L' => data.push(0x1b),
                _ => {}
            }
        }
        entry(&mut sections.frames, false, cie_body(&function.cie, &[0; 4], &data));
        let fde_at = sections.frames.len();
        let start = CODE + function.offset;
        let mut body = (((fde_at + 4) - cie_at) as u32).to_le_bytes().to_vec();
        let relative = start.wrapping_sub(FRAMES + fde_at as u64 + 8) as u32;
        body.extend(relative.to_le_bytes());
        body.extend((function.length as u32).to_le_bytes());
        body.push(0);
        body.extend(&function.instructions);
        entry(&mut sections.frames, false, body);
        table.extend((start.wrapping_sub(HEADER) as u32).to_le_bytes());
        table.extend(((FRAMES + fde_at as u64 - HEADER) as u32).to_le_bytes());
    }
    sections.frames.extend([0; 4]);
    sections.header.extend([1, 0x1b, 0x03, 0x3b]);
    sections.header.extend(((FRAMES - HEADER - 4) as u32).to_le_bytes());
    sections.header.extend((functions.len() as u32).to_le_bytes());
    sections.header.extend(table);
    sections
}

/// `.debug_frame`; addresses are absolute and those of the file, `bias` below the loaded ones.
pub fn debug_frame(functions: &[Function], wide: bool, bias: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for function in functions {
        let cie_at = out.len() as u64;
        let id: &[u8] = if wide { &[0xff; 8] } else { &[0xff; 4] };
        entry(&mut out, wide, cie_body(&function.cie, id, &[]));
        let mut body =
            if wide { cie_at.to_le_bytes().to_vec() } else { (cie_at as u32).to_le_bytes().to_vec() };
        body.extend((CODE + function.offset - bias).to_le_bytes());
        body.extend(function.length.to_le_bytes());
        body.extend(&function.instructions);
        entry(&mut out, wide, body);
    }
    out
}
