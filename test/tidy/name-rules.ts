/** Words that no new file or export may have in its name (docs/reference/glossary.md 2 and 4), and the older names. */

import type { SourceFile } from './source-files.ts'

/** By the start of a word; the word to use depends on what is meant. */
const bannedWords: Readonly<Record<string, string>> = {
  settle: 'resolve, recover, finish or outcome',
  known: 'cached, supported, previous or typed',
  kept: 'cached',
  answer: 'response, reply, result or rows',
  ahead: 'speculative',
}

/** A person settles an open intent: that is the word of the API, too. */
const settledIntents: readonly string[] = [
  'src/gateway/oversight/intent-views.ts settledView',
  'src/store/commit/commit-intents.ts findSettledBody',
  'src/store/commit/intent-settlements.ts Settlement',
  'src/store/commit/intent-settlements.ts settleIntent',
  'src/store/commit/intent-settlements.ts settlementOutcomes',
  'src/store/commit/intent-settlements.ts',
  'src/store/commit/settle-proven.ts SettledIntent',
  'src/store/commit/settle-proven.ts settleProven',
  'src/store/commit/settle-proven.ts',
]

/** Names that may stay: those of settled intents, and those from before this rule, `path` or `path name`. Take one out with its last use; add none. */
export const olderNames: ReadonlySet<string> = new Set([
  ...settledIntents,
  'src/contract/lifecycle/settle-deployment.ts settleDeployment',
  'src/contract/lifecycle/settle-deployment.ts settleDeployments',
  'src/contract/lifecycle/settle-deployment.ts',
  'src/engine/trino/answer.ts',
  'src/gateway/client-surface/answer-keyed.ts answerKeyed',
  'src/gateway/client-surface/answer-keyed.ts',
  'src/gateway/client-surface/client-surface.ts answerClient',
  'src/gateway/client-surface/listed.ts answerListed',
  'src/gateway/client-surface/repeated-answers.ts answerMade',
  'src/gateway/client-surface/repeated-answers.ts',
  'src/gateway/commit/answers-change.ts assertAnswersCommit',
  'src/gateway/commit/answers-change.ts assertAnswersCreation',
  'src/gateway/commit/answers-change.ts',
  'src/gateway/literal-surface/literal-surface.ts answerLiteral',
  'src/gateway/recovery/lost-commit.ts KnownState',
  'src/gateway/recovery/lost-commit.ts knownStates',
  'src/gateway/recovery/lost-commit.ts lostAnswerWaitsMs',
  'src/gateway/stages/known-table.ts knownTable',
  'src/gateway/stages/known-table.ts',
  'src/gateway/stages/manifest-facts.ts knownFacts',
  'src/gateway/stages/own-names.ts settleNames',
  'src/gateway/stages/territory.ts assertKnownName',
  'src/graph/run-query.ts GraphAnswer',
  'src/http/answer.ts',
  'src/protection/plan-table.ts resolveKnown',
  'src/semantics/interchange/ossie-extension.ts keptOnly',
  'src/semantics/mdx/run.ts MdxAnswer',
  'src/semantics/query-metrics.ts MetricAnswerBounds',
  'src/semantics/query-operation.ts metricAnswer',
  'src/server/xmla/answer-mdx.ts',
  'src/server/xmla/answer-request.ts AnswerParts',
  'src/server/xmla/answer-request.ts answerRequest',
  'src/server/xmla/answer-request.ts',
  'src/server/xmla/answer.ts Answer',
  'src/server/xmla/answer.ts',
  'src/storage/iceberg/manifest-bounds.ts KeptBound',
  'src/storage/one-name.ts KnownTable',
  'src/transform/subject-keys.ts SubjectKeysAnswer',
])

/** The banned words in the names of files and of what they export, as `path` or `path name`, with what to say. */
export function findBannedNames(
  files: readonly SourceFile[],
): readonly { readonly name: string; readonly say: string }[] {
  return files.flatMap(({ path, text }) => {
    const file = path.replace(/^.*\//, '').replace(/\..*$/, '')
    const exported = [...text.matchAll(exportForm)].map(([, name = '']) => name)
    return [
      ...sayings(file).map((say) => ({ name: path, say })),
      ...exported.flatMap((name) => sayings(name).map((say) => ({ name: `${path} ${name}`, say }))),
    ]
  })
}

const exportForm = /^export (?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/gm

function sayings(name: string): readonly string[] {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_]/)
  return Object.entries(bannedWords).flatMap(([banned, say]) =>
    words.some((word) => word.startsWith(banned)) ? [say] : [],
  )
}
