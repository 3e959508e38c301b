"""
FF1 of NIST SP 800-38G, a column at a time: values of one length go through each round together, as one AES-ECB update.
Below the domain of the draft of Revision 1 (February 2025) it refuses. It has no integrity: a wrong key gives a
plausible value.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Sequence

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from .plan import ALPHABETS
from .refusal import TransformRefused

SYMBOLS_MAX = 40
_DOMAIN_MIN = 1_000_000
_ROUNDS = 10
_LETTERS_AND_DIGITS = frozenset(string.ascii_letters + string.digits)


def symbols_min(radix: int) -> int:
    """Fewest symbols whose number of values reaches the domain."""
    return next(count for count in range(1, 21) if radix**count >= _DOMAIN_MIN)


def ff1_texts(key: bytes, alphabet: str, tweak: bytes, texts: Sequence[str], *, decrypt: bool = False) -> list[str]:
    """
    Tokens of texts: characters of the alphabet are enciphered in their order, ASCII characters that are neither letter
    nor digit stay where they are. Raises TransformRefused `outside_domain`.
    """
    symbols = ALPHABETS[alphabet]
    place_of = {symbol: place for place, symbol in enumerate(symbols)}
    fewest = symbols_min(len(symbols))
    by_length: dict[int, list[int]] = {}
    numerals: list[list[int]] = []
    foreign = re.compile(f"[^{symbols}]")
    for index, text in enumerate(texts):
        for character in foreign.findall(text):
            if not " " <= character <= "~" or character in _LETTERS_AND_DIGITS:
                raise TransformRefused("outside_domain", f"a value has a character outside {alphabet}")
        found = [place_of[character] for character in text if character in place_of]
        if len(found) > SYMBOLS_MAX:
            raise TransformRefused("outside_domain", f"a value has more than {SYMBOLS_MAX} characters of {alphabet}")
        if len(found) < fewest:
            raise TransformRefused("outside_domain", f"a value has fewer than {fewest} characters of {alphabet}")
        numerals.append(found)
        by_length.setdefault(len(found), []).append(index)
    for length, members in by_length.items():
        done = ff1_numerals(key, len(symbols), tweak, [numerals[index] for index in members], length, decrypt=decrypt)
        for index, numeral in zip(members, done):
            numerals[index] = numeral
    return [_put_back(text, place_of, symbols, numeral) for text, numeral in zip(texts, numerals)]


def _put_back(text: str, place_of: dict[str, int], symbols: str, numerals: Sequence[int]) -> str:
    if len(text) == len(numerals):
        return "".join([symbols[numeral] for numeral in numerals])
    rest = iter(numerals)
    return "".join([symbols[next(rest)] if character in place_of else character for character in text])


def ff1_numerals(
    key: bytes, radix: int, tweak: bytes, values: Sequence[Sequence[int]], length: int, *, decrypt: bool = False
) -> list[list[int]]:
    """Enciphers numerals of one length. The halves have at most 128 bits, so that each round is one block a value."""
    left = length // 2
    right = length - left
    half_bytes = (radix**right - 1).bit_length() + 7 >> 3
    out_bytes = 4 * math.ceil(half_bytes / 4) + 4
    update = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update
    chained = _chained(update, radix, tweak, length, left, half_bytes)
    firsts = [_number(value[:left], radix) for value in values]
    seconds = [_number(value[left:], radix) for value in values]
    for number in reversed(range(_ROUNDS)) if decrypt else range(_ROUNDS):
        modulus = radix ** (left if number % 2 == 0 else right)
        block = chained ^ number << 8 * half_bytes
        known, changed = (firsts, seconds) if decrypt else (seconds, firsts)
        outputs = _round(update, [block ^ half for half in known], out_bytes)
        if decrypt:
            changed[:] = [(half - output) % modulus for half, output in zip(changed, outputs)]
        else:
            changed[:] = [(half + output) % modulus for half, output in zip(changed, outputs)]
        firsts, seconds = seconds, firsts
    # A swap after each round, and their number is even: the first half is the left one again, in both directions.
    return [_digits(a, radix, left) + _digits(b, radix, right) for a, b in zip(firsts, seconds)]


def _round(update, blocks: list[int], out_bytes: int) -> list[int]:
    """The first `out_bytes` of the round function for each block."""
    first = update(b"".join([block.to_bytes(16, "big") for block in blocks]))
    if out_bytes <= 16:
        return [int.from_bytes(first[at : at + out_bytes], "big") for at in range(0, len(first), 16)]
    more = [int.from_bytes(first[at : at + 16], "big") ^ 1 for at in range(0, len(first), 16)]
    second = update(b"".join([block.to_bytes(16, "big") for block in more]))
    rest = out_bytes - 16
    return [int.from_bytes(first[at : at + 16] + second[at : at + rest], "big") for at in range(0, len(first), 16)]


def _chained(update, radix: int, tweak: bytes, length: int, left: int, half_bytes: int) -> int:
    """CBC-MAC over all blocks but the last, which holds the round and a half, with what else is in that one."""
    head = bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, left & 255])
    head += length.to_bytes(4, "big") + len(tweak).to_bytes(4, "big")
    text = head + tweak + bytes(-(len(tweak) + half_bytes + 1) % 16)
    whole = len(text) - len(text) % 16
    state = 0
    for at in range(0, whole, 16):
        state = int.from_bytes(update((state ^ int.from_bytes(text[at : at + 16], "big")).to_bytes(16, "big")), "big")
    return state ^ int.from_bytes(text[whole:].ljust(16, b"\0"), "big")


def _number(numerals: Sequence[int], radix: int) -> int:
    number = 0
    for numeral in numerals:
        number = number * radix + numeral
    return number


def _digits(number: int, radix: int, length: int) -> list[int]:
    digits = [0] * length
    for at in range(length - 1, -1, -1):
        number, digits[at] = divmod(number, radix)
    return digits
