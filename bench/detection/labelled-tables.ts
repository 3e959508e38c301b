/**
 * Builds labelled tables of fifteen domains: columns of the five classes under clear and opaque names, plain, nested
 * and inside JSON, among hard negatives. The same seed gives the same tables.
 */

import { type ColumnSample, classes, type SensitiveClass } from '../../src/core/classification.ts'
import { columnTerms, languages } from './column-terms.ts'
import { hardNegatives } from './hard-negatives.ts'
import { Draw } from './random-values.ts'
import { sensitiveMaker, type ValueMaker } from './sensitive-values.ts'

export interface LabelledColumn extends ColumnSample {
  readonly domain: string
  readonly table: string
  /** Classes whose readable values are in at least half of the column's cells, or of one path of its JSON. */
  readonly holds: readonly SensitiveClass[]
  /** Whether the column's name, or that path, says so. */
  readonly named: boolean
  /**
   * The class for which the column is named without holding its values: empty, masked or tokenised. An alert is false.
   * A finding by name alone is counted neither as right nor as false.
   */
  readonly declared: SensitiveClass | undefined
  /** Describes the column in a report of mistakes. */
  readonly kind: string
}

interface Domain {
  readonly name: string
  /** The owners of sensitive values. */
  readonly roles: readonly string[]
  /** Number of columns of each class in one table. */
  readonly columns: Readonly<Partial<Record<SensitiveClass, number>>>
}

function domain(name: string, roles: string, columns: Domain['columns']): Domain {
  return { name, roles: roles.split(' '), columns }
}

const domains: readonly Domain[] = [
  domain('banking', 'customer beneficiary payer account', {
    us_ssn: 2,
    email: 1,
    phone: 1,
    iban: 3,
    credit_card: 1,
  }),
  domain('insurance', 'insured claimant broker', { us_ssn: 2, email: 2, phone: 2, iban: 1 }),
  domain('retail', 'customer billing shopper', { email: 2, phone: 2, credit_card: 2 }),
  domain('payments', 'payer merchant card', { credit_card: 3, iban: 2, email: 1 }),
  domain('health', 'patient guarantor physician', { us_ssn: 2, phone: 2, email: 1 }),
  domain('payroll', 'employee emergency work', { us_ssn: 3, iban: 2, email: 1, phone: 2 }),
  domain('travel', 'passenger booker hotel', { email: 2, phone: 2, credit_card: 2 }),
  domain('telecom', 'subscriber contact caller', { phone: 3, email: 1, iban: 1, us_ssn: 1 }),
  domain('education', 'student parent teacher', { us_ssn: 2, email: 2, phone: 1 }),
  domain('logistics', 'shipper consignee driver', { phone: 2, email: 2, iban: 1 }),
  domain('government', 'taxpayer applicant spouse', { us_ssn: 3, iban: 1, phone: 1, email: 1 }),
  domain('marketing', 'lead contact subscriber', { email: 3, phone: 2 }),
  domain('real estate', 'tenant landlord agent', { iban: 2, phone: 2, email: 1, us_ssn: 1, credit_card: 1 }),
  domain('energy', 'customer meter_owner payer', { iban: 2, email: 1, phone: 1, credit_card: 1 }),
  domain('gaming', 'player guardian purchase', { credit_card: 2, email: 2, phone: 1, us_ssn: 1, iban: 1 }),
]

const opaqueNames = 'col_7 field_12 attr3 c14 value data1 custom_field_4 unnamed_2 x_val info'.split(' ')
const placeholders = ['n/a', '', 'unknown', '-']
const negativesEach = 12

/** Makes at least `cells` values for each column, and `rounds` tables for each domain, all drawn separately. */
export function labelledTables(options: {
  readonly seed: number
  readonly rounds: number
  readonly cells: number
}): readonly LabelledColumn[] {
  const draw = new Draw(options.seed)
  return Array.from({ length: options.rounds }, (_, round) =>
    domains.flatMap((each, index) => {
      const table = `${each.name.replace(' ', '_')}_${round}`
      const language = draw.pick(languages)
      const style = draw.pick(nameStyles)
      const context = { draw, domain: each, table, language, style, cells: options.cells }
      const first = (round * domains.length + index) * negativesEach
      return [
        ...classes.flatMap((made) =>
          Array.from({ length: each.columns[made] ?? 0 }, () => sensitiveColumn(context, made)),
        ),
        declaredColumn(context, draw.pick(classes)),
        ...Array.from({ length: negativesEach }, (_, offset) => negativeColumn(context, first + offset)),
      ]
    }),
  ).flat()
}

interface Context {
  readonly draw: Draw
  readonly domain: Domain
  readonly table: string
  readonly language: string
  readonly style: NameStyle
  readonly cells: number
}

type NameStyle = (words: readonly string[]) => string

const nameStyles: readonly NameStyle[] = [
  (words) => words.join('_').toLowerCase(),
  (words) => words.map((word, index) => (index === 0 ? word.toLowerCase() : capitalised(word))).join(''),
  (words) => words.map(capitalised).join(''),
  (words) => words.join('_').toUpperCase(),
  (words) => words.join('-').toLowerCase(),
]

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

function clearName({ draw, domain, language, style }: Context, made: SensitiveClass): string {
  const term = draw.pick(columnTerms[language]?.[made] as readonly string[]).split(/[ -]/)
  const role = draw.pick(domain.roles).split('_')
  const name = style([...(draw.chance(0.6) ? role : []), ...term, ...(draw.chance(0.1) ? ['2'] : [])])
  if (draw.chance(0.1)) return `${draw.pick(domain.roles)}.${name}`
  return draw.chance(0.05) ? `${name}s.element` : name
}

function sensitiveColumn(context: Context, made: SensitiveClass): LabelledColumn {
  const { draw, domain, table, cells } = context
  const named = !draw.chance(0.12)
  const make = sensitiveMaker(draw, made)
  const name = named ? clearName(context, made) : draw.pick(opaqueNames)
  const dirt = draw.pick([0, 0, 0.03, 0.15])
  const base = { domain: domain.name, table, holds: [made], named, declared: undefined }
  if (draw.chance(0.1)) {
    const values = fill(cells, () =>
      JSON.stringify({ id: draw.int(1, 9999), party: { [name.replaceAll('.', '_')]: make() }, ok: true }),
    )
    return {
      ...base,
      name: draw.pick(['payload', 'raw', 'attributes']),
      values,
      sampledCount: cells,
      kind: `${made} in JSON`,
    }
  }
  const values = fill(cells, () => (draw.chance(dirt) ? draw.pick(placeholders) : make()))
  return { ...base, name, values, sampledCount: cells, kind: made }
}

function declaredColumn(context: Context, declared: SensitiveClass): LabelledColumn {
  const { draw, domain, table, cells } = context
  const make = draw.pick<ValueMaker>([
    () => '',
    () => draw.fill('tok_~~~~~~~~~~~~'),
    () => draw.fill('****##'),
  ])
  return {
    domain: domain.name,
    table,
    name: clearName(context, declared),
    values: fill(cells, make),
    sampledCount: cells,
    holds: [],
    named: false,
    declared,
    kind: `${declared} without values`,
  }
}

function negativeColumn({ draw, domain, table, cells }: Context, index: number): LabelledColumn {
  const negative = hardNegatives[index % hardNegatives.length] as (typeof hardNegatives)[number]
  return {
    domain: domain.name,
    table,
    name: draw.pick(negative.names),
    values: fill(cells, negative.maker(draw)),
    sampledCount: cells,
    holds: [],
    named: false,
    declared: undefined,
    kind: negative.kind,
  }
}

function fill(count: number, make: ValueMaker): readonly string[] {
  return Array.from({ length: count }, make)
}
