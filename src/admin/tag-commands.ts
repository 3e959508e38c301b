/** Commands that show tags and their history. They change nothing. */

import { type Command, onTenant } from './command.ts'

export const tagCommands: readonly Command[] = [
  {
    words: 'tag list',
    usage: '--tenant ID --table ns.table',
    summary: 'Lists the tags of a table and its columns, each with who set it, how and on what evidence.',
    fields: ['items'],
    prepare(flags) {
      const { namespace, name } = flags.requiredTable()
      const input = { namespace, table: name }
      return onTenant(flags, { own: 'list_table_tags', admin: 'list_tenant_table_tags' }, input)
    },
  },
  {
    words: 'tag history',
    usage: '--tenant ID [--tag TAG] [--table ns.table] [--column COLUMN]',
    summary: 'Shows who set and removed tags, newest first.',
    prepare(flags) {
      const table = flags.table()
      const input = {
        tag: flags.optional('tag'),
        namespace: table?.namespace,
        table: table?.name,
        column: flags.optional('column'),
        limit: 1000,
      }
      return {
        ...onTenant(flags, { own: 'list_tag_history', admin: 'list_tenant_tag_history' }, input),
        everyItem: true,
      }
    },
  },
]
