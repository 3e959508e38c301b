/** Published samples: NIST's nine of FF1 (SP 800-38G, "FF1samples"), and appendix A of RFC 5297. Public domain. */

const keys = [
  '2B7E151628AED2A6ABF7158809CF4F3C',
  '2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F',
  '2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94',
]
const plain = [
  [10, '', '0123456789'],
  [10, '39383736353433323130', '0123456789'],
  [36, '3737373770717273373737', '0123456789abcdefghi'],
] as const
const tokens = [
  ['2433477484', '6124200773', 'a9tv40mll9kdu509eum'],
  ['2830668132', '2496655549', 'xbj3kv35jrawxv32ysr'],
  ['6657667009', '1001623463', 'xs8a0azh2avyalyzuwd'],
]

export const ff1Samples = keys.flatMap((key, row) =>
  plain.map(([radix, tweak, text], place) => ({
    name: `sample ${row * 3 + place + 1}`,
    key,
    radix,
    tweak,
    plain: text,
    token: tokens[row]?.[place] as string,
  })),
)

export const sivSamples = [
  {
    name: 'RFC 5297 A.1',
    key: 'fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff',
    associated: ['101112131415161718191a1b1c1d1e1f2021222324252627'],
    plain: '112233445566778899aabbccddee',
    sealed: '85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c',
  },
  {
    name: 'RFC 5297 A.2',
    key: '7f7e7d7c7b7a79787776757473727170404142434445464748494a4b4c4d4e4f',
    associated: [
      '00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100',
      '102030405060708090a0',
      '09f911029d74e35bd84156c5635688c0',
    ],
    plain: '7468697320697320736f6d6520706c61696e7465787420746f20656e6372797074207573696e67205349562d414553',
    sealed:
      '7bdb6e3b432667eb06f4d14bff2fbd0fcb900f2fddbe404326601965c889bf17dba77ceb094fa663b7a3f748ba8af829ea64ad544a272e9c485b62a3fd5c0d',
  },
]
