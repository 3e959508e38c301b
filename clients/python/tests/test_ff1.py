"""FF1 against the nine samples of NIST SP 800-38G, and the vectors of Wycheproof."""

import pathlib
import unittest

from covenant_transform.ff1 import ff1_numerals

KEYS = (
    "2B7E151628AED2A6ABF7158809CF4F3C",
    "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F",
    "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94",
)
PLAIN = (
    (10, "", "0123456789"),
    (10, "39383736353433323130", "0123456789"),
    (36, "3737373770717273373737", "0123456789abcdefghi"),
)
TOKENS = (
    ("2433477484", "6124200773", "a9tv40mll9kdu509eum"),
    ("2830668132", "2496655549", "xbj3kv35jrawxv32ysr"),
    ("6657667009", "1001623463", "xs8a0azh2avyalyzuwd"),
)

FIXTURES = pathlib.Path(__file__).parents[3] / "test" / "transform" / "fixtures"


class Samples(unittest.TestCase):
    def test_a_sample_is_enciphered_and_deciphered(self) -> None:
        for key, tokens in zip(KEYS, TOKENS):
            for (radix, tweak, plain), token in zip(PLAIN, tokens):
                with self.subTest(token):
                    given = (bytes.fromhex(key), radix, bytes.fromhex(tweak))
                    numerals, wanted = ([int(character, 36) for character in text] for text in (plain, token))
                    self.assertEqual(ff1_numerals(*given, [numerals], len(plain)), [wanted])
                    self.assertEqual(ff1_numerals(*given, [wanted], len(plain), decrypt=True), [numerals])

    def test_every_vector_of_wycheproof_is_enciphered_and_deciphered(self) -> None:
        lines = (FIXTURES / "wycheproof.txt").read_text().splitlines()
        vectors = [line.split(" ")[1:] for line in lines if line.startswith("ff1 ")]
        self.assertGreater(len(vectors), 1_000)
        for radix, key, tweak, plain, token in vectors:
            given = (_bytes(key), int(radix), _bytes(tweak))
            numerals, wanted = list(_bytes(plain)), list(_bytes(token))
            self.assertEqual(ff1_numerals(*given, [numerals], len(numerals)), [wanted])
            self.assertEqual(ff1_numerals(*given, [wanted], len(numerals), decrypt=True), [numerals])


def _bytes(hexadecimal: str) -> bytes:
    return b"" if hexadecimal == "-" else bytes.fromhex(hexadecimal)


if __name__ == "__main__":
    unittest.main()
