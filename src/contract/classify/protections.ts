/** Compares row filters and masks. What cannot be shown to be stricter counts as looser. */

import { protectionChanges } from '../../core/protection-change.ts'
import { type PurposeDemand, purposeLoosenings } from '../../core/purpose.ts'
import type {
  CommitMode,
  ModelMask,
  ModelPolicy,
  ModelRowFilter,
  ModelSchema,
} from '../../wire/odcs/model.ts'
import { type Finding, protection } from './finding.ts'

/** The findings about what happens to commits that break the contract. */
export function commitModeFindings(
  at: string,
  before: CommitMode | undefined,
  after: CommitMode | undefined,
): readonly Finding[] {
  if (before === after) return []
  const looser = modes.indexOf(after) < modes.indexOf(before)
  const said = (mode: CommitMode | undefined) => mode ?? 'the default'
  const message = `The mode of commits is ${said(after)} instead of ${said(before)}`
  return [commitFinding(at, 'mode', looser, message)]
}

/** The findings about columns that an object does not name. */
export function additionalColumnsFindings(
  at: string,
  before: ModelSchema,
  after: ModelSchema,
): readonly Finding[] {
  const [was, is] = [before.additionalColumns ?? 'allow', after.additionalColumns ?? 'allow']
  if (was === is) return []
  const order = ['allow', 'warn', 'deny']
  const message = `Columns that the contract does not name: ${is} instead of ${was}`
  return [commitFinding(at, 'additional-columns', order.indexOf(is) < order.indexOf(was), message)]
}

/** The findings about CEL policies of commits. Another text may deny less. */
export function policyFindings(
  at: string,
  before: readonly ModelPolicy[] = [],
  after: readonly ModelPolicy[] = [],
): readonly Finding[] {
  const said = ({ name: _, message: __, ...rest }: ModelPolicy) => rest
  return [
    ...before.flatMap((old) => {
      const now = after.find(({ id }) => id === old.id)
      if (now === undefined) return [commitFinding(at, 'policy', true, `The policy ${old.id} is removed`)]
      if (Bun.deepEquals(said(now), said(old))) return []
      const message = `The policy ${old.id} is another one`
      return [commitFinding(at, 'policy', true, message), commitFinding(at, 'policy', false, message)]
    }),
    ...after
      .filter(({ id }) => !before.some((old) => old.id === id))
      .map(({ id }) => commitFinding(at, 'policy', false, `The policy ${id} is added`)),
  ]
}

/** From the loosest on; without a mode, commits are refused after some days. */
const modes: readonly (CommitMode | undefined)[] = ['shadow', 'warn', undefined, 'enforce']

/** Looser enforcement of what the contract says is never automatic; a stricter one may stop writers. */
function commitFinding(at: string, what: string, looser: boolean, message: string): Finding {
  return {
    ...{ at, change: `${what}-${looser ? 'loosened' : 'tightened'}`, message, consumer: 'info' },
    ...(looser ? { producer: 'info', access: 'loosened' } : { producer: 'breaking', access: 'none' }),
  }
}

/** The findings about the purposes for which tables are read. */
export function purposeFindings(
  before: PurposeDemand | undefined,
  after: PurposeDemand | undefined,
): readonly Finding[] {
  const demands = (one: PurposeDemand | undefined) => (one === undefined ? [] : [one])
  const looser = purposeLoosenings(demands(before), demands(after))
  // What is looser the other way round was allowed before.
  const stricter = purposeLoosenings(demands(after), demands(before))
  return [
    ...looser.map((message) => protection('', 'purposes-loosened', 'loosened', message)),
    ...(stricter.length === 0
      ? []
      : [
          protection(
            '',
            'purposes-tightened',
            'tightened',
            'The tables are read for fewer purposes than before',
          ),
        ]),
  ]
}

type Protecting = ModelMask | ModelRowFilter

/** The findings about the row filters or masks at one place. */
export function protectionFindings(
  at: string,
  noun: 'row filter' | 'mask',
  before: readonly Protecting[],
  after: readonly Protecting[],
): readonly Finding[] {
  const kind = noun === 'mask' ? 'mask' : 'filter'
  const findings: Finding[] = []
  for (const old of before) {
    const now = after.find(({ id }) => id === old.id)
    if (now === undefined)
      findings.push(protection(at, `${kind}-removed`, 'loosened', `The ${noun} ${old.id} is removed`))
    else
      findings.push(
        ...protectionChanges(noun, old, now).map(({ access, message }) =>
          protection(at, `${kind}-${access}`, access, message),
        ),
      )
  }
  for (const { id } of after)
    if (!before.some((old) => old.id === id))
      findings.push(protection(at, `${kind}-added`, 'tightened', `The ${noun} ${id} is added`))
  return findings
}
