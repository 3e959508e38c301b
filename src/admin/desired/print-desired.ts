/** Writes a plan of settings for people and as JSON. */

import { shortValue } from '../contracts/make-plan.ts'
import { shownText } from '../text-table.ts'
import type { PlannedSetting, SettingsPlan } from './desired-plan.ts'

const marks = { add: '+', change: '~', remove: '-', none: ' ' } as const

/** The plan as lines. */
export function settingsText({ settings }: SettingsPlan): string {
  const count = (action: PlannedSetting['action']) => settings.filter((one) => one.action === action).length
  const seen = settings.filter(
    ({ action, notes, problem }) => action !== 'none' || notes.length > 0 || problem !== undefined,
  )
  const total = `Settings: ${count('add')} to add, ${count('change')} to change, ${count('remove')} to remove, ${count('none')} unchanged.`
  return [...seen.flatMap(settingLines), total].map(shownText).join('\n')
}

function settingLines({ at, action, file, differences, notes, problem, showsSecret }: PlannedSetting) {
  return [
    `${marks[action]} ${at}${file === undefined ? '' : `  (${file})`}`,
    ...differences.map(
      ({ path, before, after }) =>
        `    ${path.slice(1)}: ${before === undefined ? 'nothing' : shortValue(before)} → ${after === undefined ? 'nothing' : shortValue(after)}`,
    ),
    ...(showsSecret ? ['    has a secret that is shown once; --secrets says where it is written'] : []),
    ...notes.map((text) => `    ${text}`),
    ...(problem === undefined ? [] : [`    cannot be applied: ${problem}`]),
  ]
}

/** The plan as JSON values. */
export function settingsView({ settings }: SettingsPlan) {
  return settings.map(({ at, action, file, differences, notes, problem }) => ({
    ...{ at, action, ...(file !== undefined && { file }), notes },
    ...(problem !== undefined && { problem }),
    differences: differences.map(({ path, before, after }) => ({
      path,
      ...(before !== undefined && { before: shortValue(before) }),
      ...(after !== undefined && { after: shortValue(after) }),
    })),
  }))
}
