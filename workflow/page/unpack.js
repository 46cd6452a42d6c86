// The data of the page: a head (JSON), and blocks of numbers and texts. workflow/src/page/block.rs writes them.

/** What is wrong with the data, in words for the reader. */
export class DamagedData extends Error {}

/** The bytes of a base64 text. */
function bytesOf(base64) {
  try {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    throw new DamagedData("its text is no base64; part of the file may be missing");
  }
}

/** Undoes zlib's compression. */
async function inflated(bytes) {
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new DamagedData("it cannot be decompressed; the file may have been cut off or changed on its way");
  }
}

/** Reads the data of a page. */
export async function unpack(base64) {
  return new Data(await inflated(bytesOf(base64.trim())));
}

/** The head, and the blocks by name. */
export class Data {
  constructor(bytes) {
    const length = bytes.length < 4 ? -1 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    if (length < 0 || 4 + length > bytes.length) throw new DamagedData("its head is missing");
    try {
      this.head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    } catch {
      throw new DamagedData("its head is no JSON");
    }
    if (this.head.schema !== "falloff.page" || this.head.version !== 1) {
      throw new DamagedData(
        `it is ${this.head.schema} version ${this.head.version}, and this page reads falloff.page version 1`,
      );
    }
    this.blocks = new Map();
    let at = 4 + length;
    for (const block of this.head.blocks) {
      this.blocks.set(block.name, { ...block, content: bytes.subarray(at, at + block.bytes) });
      at += block.bytes;
    }
    if (at !== bytes.length) throw new DamagedData(`its blocks have ${at} bytes, and ${bytes.length} are there`);
  }

  /** Whether there is a block of this name. */
  has(name) {
    return this.blocks.has(name);
  }

  /** The numbers of a block in an array of this type. */
  numbers(name, type = Float64Array) {
    const block = this.block(name);
    const whole = block.encoding === "whole";
    const { content, count } = block;
    const numbers = new type(count);
    let at = 0;
    for (let i = 0; i < count; i++) {
      let byte = content[at++];
      let value = byte & 127;
      // Shifts go as far as 28 bits, products as far as a number is exact.
      let shift = 7;
      for (; byte > 127 && shift < 28; shift += 7) {
        byte = content[at++];
        value |= (byte & 127) << shift;
      }
      for (let scale = 2 ** shift; byte > 127; scale *= 128) {
        byte = content[at++];
        value += (byte & 127) * scale;
      }
      numbers[i] = whole ? (value % 2 ? -(value + 1) / 2 : value / 2) : value;
    }
    if (at !== content.length) throw new DamagedData(`block "${name}" has not the ${count} numbers that its head says`);
    return numbers;
  }

  /** The text of a block. */
  text(name) {
    const block = this.block(name);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(block.content);
    if (text.length !== block.count) throw new DamagedData(`text "${name}" has not the length that its head says`);
    return text;
  }

  /** Texts that follow each other in a block: a function that gives the text of a number, from 1; 0 has none. */
  texts(name) {
    const all = this.text(name);
    const lengths = this.numbers(`${name}.lengths`, Uint32Array);
    const starts = new Uint32Array(lengths.length + 1);
    for (let i = 0; i < lengths.length; i++) starts[i + 1] = starts[i] + lengths[i];
    return (number) => (number > 0 ? all.slice(starts[number - 1], starts[number]) : null);
  }

  block(name) {
    const block = this.blocks.get(name);
    if (!block) throw new DamagedData(`block "${name}" is missing`);
    return block;
  }
}
