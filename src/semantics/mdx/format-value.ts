/** Formats values by FORMAT_STRING: numbers by a picture or a named format. Other values keep their text. */

/** Named formats, as pictures. */
const named: Readonly<Record<string, string>> = {
  standard: '#,##0.00',
  fixed: '0.00',
  percent: '0.00%',
  currency: '$#,##0.00;($#,##0.00)',
  'general number': '',
  general: '',
}

/** Whether a format says how digits of a number are written. */
export function isNumberFormat(format: string): boolean {
  const picture = named[format.toLowerCase()]
  return picture !== undefined || /[0#]/.test(format)
}

/** The text of a value. @param format empty for none */
export function formatValue(value: number | bigint | string | boolean, format: string): string {
  if (typeof value !== 'number' && typeof value !== 'bigint') return String(value)
  const picture = named[format.toLowerCase()] ?? format
  if (picture === '' || !/[0#]/.test(picture)) return String(value)
  const sections = splitSections(picture)
  const number = Number(value)
  const [positive = '', negative, zero] = sections
  if (number < 0 && negative !== undefined) return applyPicture(-number, negative)
  if (number === 0 && zero !== undefined) return applyPicture(0, zero)
  if (!Number.isFinite(number)) return String(value)
  return applyPicture(number, positive)
}

/** Sections for positive, negative and zero, at semicolons outside of quotes. */
function splitSections(picture: string): readonly string[] {
  return [...picture.matchAll(/(?:[^;"\\]|"[^"]*"|\\.)+|(?<=;)(?=;|$)/g)].map(([section]) => section)
}

interface Picture {
  readonly before: string
  readonly body: string
  readonly after: string
}

/** What stands around the digits, without quotes and backslashes. */
function partsOf(section: string): Picture {
  const found = /^((?:[^0#.,"\\]|"[^"]*"|\\.)*)([0#.,]*)(.*)$/su.exec(section)
  const plain = (text: string | undefined) =>
    (text ?? '').replace(/"([^"]*)"|\\(.)/g, (_, quoted, escaped) => quoted ?? escaped)
  return { before: plain(found?.[1]), body: found?.[2] ?? '', after: plain(found?.[3]) }
}

function applyPicture(number: number, section: string): string {
  const { before, body, after } = partsOf(section)
  const isPercent = /%/.test(before) || /%/.test(after)
  const [whole = '', decimals = ''] = body.split('.')
  const digits = whole.replaceAll(',', '')
  const scaled = (Math.abs(number) * (isPercent ? 100 : 1)) / 1_000 ** (/,*$/.exec(whole)?.[0].length ?? 0)
  const fixed = scaled.toFixed(Math.min(20, decimals.length))
  const [integer = '', fraction = ''] = fixed.split('.')
  const least = digits.length - digits.indexOf('0')
  const padded = digits.includes('0') ? integer.padStart(least, '0') : integer.replace(/^0$/, '')
  const grouped = /[0#],+[0#]/.test(whole) ? padded.replace(/\B(?=(?:\d{3})+$)/g, ',') : padded
  // A `#` after the point shows no closing zero.
  const shown = fraction.slice(0, Math.max(decimals.lastIndexOf('0') + 1, fraction.replace(/0+$/, '').length))
  const sign = number < 0 && /[1-9]/.test(fixed) ? '-' : ''
  return `${sign}${before}${grouped}${shown === '' ? '' : `.${shown}`}${after}`
}
