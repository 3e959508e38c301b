/** Commands for replays: start, list, show, summary, findings, cancel. */

import { policyKinds } from '../core/policy.ts'
import { replayFindings } from '../core/policy-replay.ts'
import { type Command, onTenant } from './command.ts'
import { scopeOf } from './policy-commands.ts'

export const replayCommands: readonly Command[] = [
  {
    words: 'replay start',
    usage: `--tenant ID [--file FILE --kind ${policyKinds.join('|')} (--table ns.table | --namespace ns | --tag TAG) [--replaces ID]] [--name N] [--message M] [--commits N]`,
    summary: 'Tries a draft policy on stored commits. FILE is its text; - is standard input.',
    details: 'Without --file it compares what the policies of then say now with what they said.',
    fields: ['id', 'state', 'commits'],
    async prepare(flags) {
      const commits = flags.optional('commits')
      const replay = { own: 'start_policy_replay', admin: 'start_tenant_policy_replay' }
      const bound = commits === undefined ? {} : { commits: Number(commits) }
      if (flags.optional('file') === undefined) return onTenant(flags, replay, bound)
      const input = {
        definition_cel: await flags.file('file'),
        ...scopeOf(flags),
        kind: flags.requiredChoice('kind', policyKinds),
        name: flags.optional('name'),
        message: flags.optional('message'),
        replaces: flags.optional('replaces'),
        ...bound,
      }
      return onTenant(flags, replay, input)
    },
  },
  {
    words: 'replay list',
    usage: '--tenant ID',
    summary: 'Lists the replays of a tenant, newest first.',
    prepare: (flags) => ({
      ...onTenant(
        flags,
        { own: 'list_policy_replays', admin: 'list_tenant_policy_replays' },
        { limit: 1000 },
      ),
      everyItem: true,
    }),
  },
  {
    words: 'replay show',
    usage: '--tenant ID --id ID',
    summary: 'Shows how far a replay has come, and how many changes had which outcome.',
    fields: ['id', 'state', 'commits', 'looked_at', 'counts', 'problem'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'get_policy_replay', admin: 'get_tenant_policy_replay' },
        { id: flags.required('id') },
      ),
  },
  {
    words: 'replay summary',
    usage: '--tenant ID --id ID',
    summary: 'Shows what a replay has found by outcome, writer, table and reason.',
    prepare: (flags) => ({
      ...onTenant(
        flags,
        { own: 'sum_policy_replay', admin: 'sum_tenant_policy_replay' },
        { id: flags.required('id'), limit: 1000 },
      ),
      everyItem: true,
    }),
  },
  {
    words: 'replay findings',
    usage: `--tenant ID --id ID [--outcome ${replayFindings.join('|')}]`,
    summary: 'Lists the changes that a replay decides otherwise, or could not replay.',
    prepare: (flags) => ({
      ...onTenant(
        flags,
        { own: 'list_policy_replay_findings', admin: 'list_tenant_policy_replay_findings' },
        { id: flags.required('id'), outcome: flags.choice('outcome', replayFindings), limit: 1000 },
      ),
      everyItem: true,
    }),
  },
  {
    words: 'replay cancel',
    usage: '--tenant ID --id ID',
    summary: 'Ends a replay; what it has found stays.',
    fields: ['id', 'state'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'cancel_policy_replay', admin: 'cancel_tenant_policy_replay' },
        { id: flags.required('id') },
      ),
  },
]
