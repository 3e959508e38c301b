/**
 * `covenant completion`: completes words in a shell. The scripts ask the command itself, and it reads what may come from
 * its verbs, its commands and the flags that their help texts name. It asks no service, so names on one are not completed.
 */

import { commands } from './commands.ts'
import { exitStatus, reportFailure, UsageError } from './exit-status.ts'
import { usageOf } from './named/named-help.ts'
import { findNamed, namedVerbs } from './named/named-verbs.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant completion bash|zsh|fish

Prints a script by which the shell completes the verbs, commands and flags of covenant:

  bash  source <(covenant completion bash)
  zsh   source <(covenant completion zsh)
  fish  covenant completion fish | source

The line goes into ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish. Where covenant has no word to offer, files are.

Exit status: 0 done, 64 wrong usage.`

/** In each, the last word that is handed over is the one that is being written; it may be empty. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_covenant() {
  local IFS=$'\\n'
  COMPREPLY=($(covenant completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _covenant covenant`,
  zsh: `_covenant() {
  local -a found
  found=("\${(@f)$(covenant completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n \${found[1]} ]]; then compadd -- $found; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _covenant covenant`,
  fish: `complete -c covenant -a '(covenant completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
}

/** A verb as completion needs it. */
interface CompletedVerb {
  readonly name: string
  readonly run: (words: readonly string[], terminal: Terminal) => Promise<number | undefined>
}

/**
 * Runs the verb. It never throws.
 * @param verbs of the command line
 * @returns the exit status
 */
export async function complete(
  words: readonly string[],
  terminal: Terminal,
  verbs: readonly CompletedVerb[],
): Promise<number> {
  const [shell = '', separator, ...given] = words
  if (words.includes('--help') && shell !== 'words') {
    terminal.print(help)
    return exitStatus.done
  }
  if (shell === 'words' && separator === '--') {
    const found = await candidates(given.slice(0, -1), verbs)
    const written = given.at(-1) ?? ''
    const fitting = [...new Set(found)].filter((word) => word.startsWith(written)).sort()
    if (fitting.length > 0) terminal.print(fitting.join('\n'))
    return exitStatus.done
  }
  const script = scripts[shell]
  if (script === undefined || words.length > 1)
    return reportFailure(new UsageError('Name the shell: bash, zsh or fish'), 'covenant completion', terminal)
  terminal.print(script)
  return exitStatus.done
}

/** What may follow these words. */
async function candidates(
  before: readonly string[],
  verbs: readonly CompletedVerb[],
): Promise<readonly string[]> {
  const [first, ...rest] = before
  if (first === undefined) return [...verbs.map(({ name }) => name), 'help', '--help', '--version']
  if (first === 'help') return rest.length === 0 ? verbs.map(({ name }) => name) : []
  if (first === 'completion') return rest.length === 0 ? [...Object.keys(scripts), '--help'] : []
  const verb = verbs.find(({ name }) => name === first)
  if (verb === undefined) return []
  if (first === 'admin') return commandWords(rest)
  const named = namedWords(before)
  const own = namedVerbs.some(({ words }) => words === first || words.startsWith(`${first} `))
  return own && first !== 'transform' ? named : [...named, ...fromHelp(await helpOf(verb), rest)]
}

/** The next word of a verb by name, or its flags. */
function namedWords(before: readonly string[]): readonly string[] {
  const words = before.filter((word) => !word.startsWith('-'))
  // A flag ends the words that name a verb.
  const below = before.some((word) => word.startsWith('-'))
    ? []
    : namedVerbs.filter((verb) => verb.words.startsWith(`${words.join(' ')} `))
  const next = below.flatMap((verb) => verb.words.split(' ')[words.length] ?? [])
  const verb = findNamed(before)
  if (verb === undefined) return next.length > 0 ? [...next, '--help'] : []
  return [...next, ...fromHelp(`${usageOf(verb)} --help`, before)]
}

/** The next word of a command, or its flags. */
function commandWords(before: readonly string[]): readonly string[] {
  const named = before.filter((word) => !word.startsWith('-'))
  const command = commands.find(({ words }) => ` ${named.join(' ')} `.startsWith(` ${words} `))
  if (command !== undefined)
    return fromHelp(
      `${command.usage} --url URL --session-file FILE --field FIELD --help`,
      before,
      command.fields,
    )
  const next = commands.flatMap(({ words }) => {
    const each = words.split(' ')
    return named.every((word, index) => each[index] === word) ? (each[named.length] ?? []) : []
  })
  return [...next, '--help']
}

/** The words of a choice that the last flag takes; nothing where it takes another value; else the flags. */
function fromHelp(
  text: string,
  before: readonly string[],
  fields: readonly string[] = [],
): readonly string[] {
  const last = before.at(-1) ?? ''
  if (last === '--field') return fields
  if (/^--[a-z]/.test(last)) {
    const value = new RegExp(`${last}[ =]([^\\s\\]]+)`).exec(text)?.[1] ?? ''
    if (/^[a-z0-9-]+(\|[a-z0-9-]+)+$/.test(value)) return value.split('|')
    if (/^[A-Z]/.test(value)) return []
  }
  const flags = text.match(/--[a-z][a-z0-9-]*/g) ?? []
  return flags.filter((flag) => !before.includes(flag))
}

async function helpOf({ run }: CompletedVerb): Promise<string> {
  const lines: string[] = []
  const print = (line: string) => void lines.push(line)
  await run(['--help'], { env: {}, stdin: async () => '', print, complain: print })
  return [...lines, '--help'].join('\n')
}
