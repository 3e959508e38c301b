/** Writes a date or time by a picture of VBA, such as `dd.mm.yyyy hh:nn`. Names of days and months are English. */

import { refuseMdx } from '../../wire/mdx/tokens.ts'

/** Makes the writer once, because it takes longer to make than to use, and a statement writes many cells. */
function names(length: 'long' | 'short', part: 'month' | 'weekday'): (date: Date) => string {
  const writer = new Intl.DateTimeFormat('en-US', { [part]: length, timeZone: 'UTC' })
  return (date) => writer.format(date)
}

const padded = (count: number, width: number) => String(count).padStart(width, '0')

const pieces: Readonly<Record<string, (date: Date) => string>> = {
  yyyy: (date) => padded(date.getUTCFullYear(), 4),
  yy: (date) => padded(date.getUTCFullYear() % 100, 2),
  q: (date) => String(Math.floor(date.getUTCMonth() / 3) + 1),
  mmmm: names('long', 'month'),
  mmm: names('short', 'month'),
  mm: (date) => padded(date.getUTCMonth() + 1, 2),
  m: (date) => String(date.getUTCMonth() + 1),
  dddd: names('long', 'weekday'),
  ddd: names('short', 'weekday'),
  dd: (date) => padded(date.getUTCDate(), 2),
  d: (date) => String(date.getUTCDate()),
  hh: (date) => padded(date.getUTCHours(), 2),
  h: (date) => String(date.getUTCHours()),
  nn: (date) => padded(date.getUTCMinutes(), 2),
  n: (date) => String(date.getUTCMinutes()),
  ss: (date) => padded(date.getUTCSeconds(), 2),
  s: (date) => String(date.getUTCSeconds()),
}

/** Named formats, as pictures. */
const named: Readonly<Record<string, string>> = {
  'general date': 'm/d/yyyy hh:nn:ss',
  'long date': 'dddd, mmmm d, yyyy',
  'medium date': 'dd-mmm-yy',
  'short date': 'm/d/yyyy',
  'long time': 'hh:nn:ss',
  'short time': 'hh:nn',
}

const piecePattern = /"([^"]*)"|\\(.)|([a-z]+)|([^a-z"\\]+)/giy

/** @throws Fault `bad_request` for letters that stand for nothing */
export function formatDate(moment: number, given: string): string {
  const picture = named[given.toLowerCase()] ?? given
  const date = new Date(moment)
  let written = ''
  let isAfterHours = false
  piecePattern.lastIndex = 0
  while (piecePattern.lastIndex < picture.length) {
    const found = piecePattern.exec(picture)
    if (found === null) return refuseMdx('the picture of a date has a quote that is not closed')
    const [, quoted, escaped, letters, other] = found
    if (letters === undefined) {
      written += quoted ?? escaped ?? other ?? ''
      continue
    }
    for (const [run] of letters.toLowerCase().matchAll(/(.)\1*/g)) {
      // Behind hours, m stands for minutes.
      const name = isAfterHours && /^mm?$/.test(run) ? run.replaceAll('m', 'n') : run
      const write = Object.hasOwn(pieces, name) ? pieces[name] : undefined
      if (write === undefined)
        return refuseMdx(`\`${run.slice(0, 20)}\` in the picture of a date is not supported`)
      written += write(date)
      isAfterHours = /^hh?$/.test(run)
    }
  }
  return written
}
