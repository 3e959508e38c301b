/**
 * Cleans text by strangers before it is shown to a language model: removes what a person would not see, and bounds its
 * length. It does not judge what the text says.
 */

/**
 * Control characters but tab and line feed, bidirectional controls, and characters that are never drawn, with the tag
 * block U+E0000. Joiners and the two presentation selectors stay, because scripts and emoji need them.
 */
const unseen =
  /(?![\t\n])\p{Cc}|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}/gu

const cut = '…'

/** The text without unseen characters, at most `charsMax` UTF-16 units long; a longer one ends with `…`. */
export function cleanText(text: string, charsMax: number): string {
  const clean = text.toWellFormed().replace(unseen, '')
  if (clean.length <= charsMax) return clean
  return `${clean
    .slice(0, Math.max(charsMax - cut.length, 0))
    .toWellFormed()
    .replace(/\ufffd$/, '')}${cut}`
}
