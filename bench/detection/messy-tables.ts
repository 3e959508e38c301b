/**
 * Builds messy tables: about 268 columns a seed, as lakehouses keep them beside their well-modelled ones. Names are
 * abbreviated or say nothing, values stand inside text, and columns are dirty in part. It imports no vocabulary and no
 * rule of the classifiers.
 *
 * A column holds a class where at least one cell in ten has a readable value, alone or inside text. It is to alert
 * (`named`) where its name says so, or where half of its cells are text around a value.
 */

import type { SensitiveClass } from '../../src/core/classification.ts'
import type { LabelledColumn } from './labelled-tables.ts'
import { frames, harmless } from './messy-text.ts'
import { address4, firstNames, lastNames, type Make, noun, sensitiveMakers, stamp } from './messy-values.ts'
import { Draw } from './random-values.ts'

/**
 * The classifiers were tuned on some seeds; the others only ever give figures. Those of `unseen` were run for the first
 * time when tuning had ended (docs/detection-quality.md).
 */
export const messySeeds = {
  tuning: [1, 2, 3],
  heldOut: [101, 102, 103, 104, 105, 106],
  unseen: [201, 202, 203, 204, 205, 206],
} as const

const sensitiveClasses = Object.keys(sensitiveMakers) as readonly SensitiveClass[]

/** Names under which people keep whole values. */
const wholeNames: Readonly<Record<SensitiveClass, readonly string[]>> = {
  email: [
    'CUST_EMAIL_ADDR',
    'e-mail 2',
    'Email (work)',
    'usr_email',
    'billingEmail',
    'EMAIL_ADDRESS_TXT',
    'contact_email_1',
    'src.email',
  ],
  us_ssn: [
    'SSN',
    'emp_ssn',
    'SSN_NBR',
    'Social Security Number',
    'applicantSSN',
    'dep_ssn_1',
    'social_security_no',
    'ssn_raw',
  ],
  credit_card: [
    'CC_NUMBER',
    'card_number',
    'creditCardNo',
    'Card Number (primary)',
    'CREDIT_CARD_NUM',
    'payment_card_number',
    'cc_num',
    'pan_number',
  ],
  iban: [
    'IBAN',
    'iban_nr',
    'BANK_IBAN',
    'payeeIban',
    'IBAN (refund)',
    'creditor_iban',
    'iban_code',
    'src.iban',
  ],
  phone: [
    'PHONE_NBR',
    'mobile_phone',
    'Phone (home)',
    'telephone',
    'workPhone',
    'cell_phone_no',
    'PHONE_1',
    'contact_phone_number',
  ],
}
const silentNames = [
  'f17',
  'col_b',
  'UDF_09',
  'Unnamed: 12',
  'misc',
  'zz_tmp',
  'attribute_31',
  'x',
  'field_0042',
  'spare_text_2',
]
const textNames = [
  'message',
  'raw_line',
  'log',
  'line',
  'event',
  'request_url',
  'payload',
  'notes',
  'remarks',
  'body',
  'description',
  'free_text',
  'comment_txt',
  'dump',
  'record',
  'ticket_text',
  'details',
]
/** Names of text that say what stands in it. */
const tellingNames: Readonly<Record<SensitiveClass, readonly string[]>> = {
  email: ['email_raw', 'raw_email_text', 'email_and_note'],
  us_ssn: ['ssn_note', 'ssn_raw_text', 'ssn_and_remarks'],
  credit_card: ['card_number_raw', 'credit_card_text', 'card_number_and_note'],
  iban: ['iban_text', 'iban_raw', 'iban_and_reference'],
  phone: ['phone_note', 'phone_text', 'telephone_raw'],
}

const plain: Readonly<Record<string, readonly [names: readonly string[], make: (draw: Draw) => Make]>> = {
  keys: [['id', 'row_id', 'sk', 'rec_no'], (draw) => () => draw.fill('########')],
  uuids: [['uuid', 'trace_id', 'guid'], (draw) => () => draw.fill('~~~~~~~~-~~~~-4~~~-9~~~-~~~~~~~~~~~~')],
  times: [['created', 'upd_ts', 'dt'], (draw) => () => stamp(draw)],
  names: [['full_nm', 'person', 'nm'], (draw) => () => `${draw.pick(firstNames)} ${draw.pick(lastNames)}`],
  amounts: [['amt', 'net', 'val_eur'], (draw) => () => `${draw.int(1, 9999)}.${draw.fill('##')}`],
  hosts: [['ip', 'host', 'src_addr'], (draw) => () => address4(draw)],
  things: [['item', 'kind', 'prod'], (draw) => () => noun(draw)],
  gtins: [['gtin', 'ean', 'upc'], (draw) => () => draw.fill('#############')],
  hashes: [['sha', 'etag', 'digest'], (draw) => () => draw.fill('~'.repeat(40))],
  'flags and codes': [['st', 'cd', 'flg'], (draw) => () => draw.pick(['A', 'B', 'X9', '0', 'n/a'])],
}

const masked: Readonly<Record<SensitiveClass, (draw: Draw) => Make>> = {
  email: () => () => '****.*******@*******.***',
  us_ssn: (draw) => () => draw.fill('***-**-####'),
  credit_card: (draw) => () => draw.fill('XXXX-XXXX-XXXX-####'),
  iban: (draw) => () => draw.fill('AA00AA00000000##'),
  phone: (draw) => () => draw.fill('+00 (***) ***-**##'),
}

/** What a column is labelled with, beside its name and values. */
type Label = Pick<LabelledColumn, 'holds' | 'named' | 'declared' | 'kind'>

/** Makes the columns of one seed. The same seed gives the same columns. */
export function messyColumns({
  seed,
  cells,
}: {
  readonly seed: number
  readonly cells: number
}): readonly LabelledColumn[] {
  const draw = new Draw(seed)
  const columns: LabelledColumn[] = []
  const add = (name: string, make: Make, label: Label) => {
    const table = `heap_${Math.floor(columns.length / 24)}`
    const values = Array.from({ length: cells }, make)
    columns.push({ domain: 'messy', table, name, values, sampledCount: cells, ...label })
  }
  const dirty = (share: number, value: Make, other: Make): Make => {
    // Every n-th cell, so that the share is what it is said to be.
    const every = Math.round(1 / share)
    let at = draw.int(0, every - 1)
    return () => (at++ % every === 0 ? value() : other())
  }
  for (const made of sensitiveClasses) {
    const held = { holds: [made], declared: undefined }
    const value = () => sensitiveMakers[made](draw)
    for (let n = 0; n < 7; n++)
      add(draw.pick(wholeNames[made]), dirtyBy(draw, value()), {
        ...held,
        named: true,
        kind: `${made}, whole`,
      })
    for (let n = 0; n < 3; n++)
      add(draw.pick(silentNames), value(), { ...held, named: false, kind: `${made}, whole, silent` })
    for (const [form, frame] of Object.entries(frames)) {
      const write = frame(made)
      const some = value()
      const inside = () => write(draw, some())
      const without = () => write(draw, undefined)
      add(draw.pick(textNames), inside, { ...held, named: true, kind: `${made} in ${form}` })
      add(draw.pick(textNames), dirty(0.5, inside, without), {
        ...held,
        named: true,
        kind: `${made} in half of ${form}`,
      })
      add(draw.pick(textNames), dirty(0.1, inside, without), {
        ...held,
        named: false,
        kind: `${made} in a tenth of ${form}`,
      })
    }
    const [some, write] = [value(), (frames['free text'] as (typeof frames)[string])(made)]
    const inside = () => write(draw, some())
    for (const share of [1, 0.1])
      add(
        draw.pick(tellingNames[made]),
        dirty(share, inside, () => write(draw, undefined)),
        {
          ...held,
          named: true,
          kind: `${made} in telling text, ${share}`,
        },
      )
    add(
      draw.pick(textNames),
      dirty(0.1, value(), () => noun(draw)),
      { ...held, named: false, kind: `${made} in a tenth of cells` },
    )
    add(draw.pick(wholeNames[made]), masked[made](draw), {
      holds: [],
      named: false,
      declared: made,
      kind: `${made}, masked`,
    })
  }
  for (const [kind, make] of Object.entries(harmless))
    for (let n = 0; n < 3; n++)
      add(draw.pick(textNames), make(draw), { holds: [], named: false, declared: undefined, kind })
  for (const [kind, [names, make]] of Object.entries(plain))
    for (let n = 0; n < 2; n++)
      add(draw.pick(names), make(draw), { holds: [], named: false, declared: undefined, kind })
  return columns
}

/** Blanks and placeholders among whole values. */
function dirtyBy(draw: Draw, make: Make): Make {
  const share = draw.pick([0, 0.05, 0.3])
  return () => (draw.chance(share) ? draw.pick(['', 'n/a', '-', 'UNKNOWN']) : make())
}
