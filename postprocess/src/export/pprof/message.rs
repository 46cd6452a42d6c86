//! Protocol buffers, as far as profiles need them.

/// Wire types of fields.
const VARINT: u64 = 0;
const BYTES: u64 = 2;

/// An encoded message. Numbers that are 0 and lists that are empty are left out: they are what readers take for missing
/// fields.
#[derive(Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// A number, an index or a flag.
    pub fn number(mut self, field: u64, value: u64) -> Message {
        if value != 0 {
            self.varint(field << 3 | VARINT);
            self.varint(value);
        }
        self
    }

    /// A number that may be negative.
    pub fn signed(self, field: u64, value: i64) -> Message {
        self.number(field, value as u64)
    }

    /// An element of a list of texts, which may be empty.
    pub fn text(self, field: u64, text: &str) -> Message {
        self.block(field, text.as_bytes())
    }

    /// A message in this one.
    pub fn message(self, field: u64, message: &Message) -> Message {
        self.block(field, &message.bytes)
    }

    /// A list of numbers.
    pub fn numbers(self, field: u64, values: impl IntoIterator<Item = u64>) -> Message {
        let mut list = Message::default();
        values.into_iter().for_each(|value| list.varint(value));
        if list.bytes.is_empty() { self } else { self.message(field, &list) }
    }

    /// What has been encoded.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn block(mut self, field: u64, bytes: &[u8]) -> Message {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Seven bits a byte, lowest first; all but the last byte have the highest bit set.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_the_specification_shows_them() {
        // The examples of the protocol buffers' own description of their encoding.
        assert_eq!(Message::default().number(1, 150).bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").bytes(), b"\x12\x07testing");
        assert_eq!(
            Message::default().numbers(6, [3, 270, 86942]).bytes(),
            b"\x32\x06\x03\x8e\x02\x9e\xa7\x05"
        );
        let inner = Message::default().number(1, 150);
        assert_eq!(Message::default().message(3, &inner).bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let minus_two = [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Message::default().signed(1, -2).bytes(), minus_two);
        assert!(Message::default().number(1, 0).numbers(2, []).bytes().is_empty());
    }
}
