import { dirname, join } from 'node:path'

import { ts } from '@ts-morph/common'

import { createSeededRandom } from '../../../src/model/autodj/random.ts'
import { type Mutant, occurrenceAt } from './mutant.ts'
import { type Change, changesOf } from './operators.ts'
import { typeChecker } from './type-checker.ts'

export interface DrawOptions {
  readonly seed: number
  /** The number of mutants of files that unit tests load. */
  readonly unit: number
  /** The number of mutants of all other files. */
  readonly integration: number
}

/**
 * Draws mutants of a tree of files, by their paths from `root`: at most one per file, its operator first, so
 * that frequent operators are not overrepresented. Mutants that the type checker rejects are replaced.
 */
export function drawMutants(
  root: string,
  tree: ReadonlyMap<string, string>,
  { seed, unit, integration }: DrawOptions
): Mutant[] {
  const random = createSeededRandom(seed, 0)
  const hasRightTypes = typeChecker(root)
  const files = [...tree.keys()].filter(isProgram).toSorted()
  const loaded = loadedByUnitTests(tree)
  const groups = [
    { tests: 'unit', files: files.filter(file => loaded.has(file)), count: unit },
    { tests: 'integration', files: files.filter(file => !loaded.has(file)), count: integration }
  ] as const
  return groups.flatMap(group => drawGroup(group.tests, shuffled(group.files), group.count))

  function drawGroup(tests: Mutant['tests'], from: readonly string[], count: number): Mutant[] {
    const drawn: Mutant[] = []
    for (const file of from) {
      if (drawn.length === count) break
      const mutant = drawOne(file)
      if (mutant) drawn.push({ id: `${tests}-${drawn.length + 1}`, tests, ...mutant })
    }
    return drawn
  }

  function drawOne(file: string): Omit<Mutant, 'id' | 'tests'> | undefined {
    const text = tree.get(file) ?? ''
    const changes = changesOf(file, text)
    const operators = [...new Set(changes.map(({ operator }) => operator))].toSorted()
    const change = shuffled(operators)
      .flatMap(operator =>
        shuffled(changes.filter(each => each.operator === operator)).slice(0, triesOfOperator)
      )
      .slice(0, triesOfFile)
      .find(each => hasRightTypes(file, textAfter(text, each)))
    return change && mutantOf(file, text, change)
  }

  function shuffled<Item>(items: readonly Item[]): Item[] {
    return items
      .map(item => ({ item, place: random() }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ item }) => item)
  }
}

const triesOfOperator = 3
const triesOfFile = 12

const isProgram = (file: string) => /^(src|web)\/.*\.ts$/.test(file) && !file.endsWith('.d.ts')

const textAfter = (text: string, { start, end, replacement }: Change) =>
  text.slice(0, start) + replacement + text.slice(end)

function mutantOf(file: string, text: string, change: Change): Omit<Mutant, 'id' | 'tests'> {
  const lines = text.split('\n')
  const index = text.slice(0, change.start).split('\n').length - 1
  const after = textAfter(text, change).split('\n')[index] ?? ''
  return {
    operator: change.operator,
    file,
    line: lines[index] ?? '',
    occurrence: occurrenceAt(lines, index),
    replacement: after.trim() === '' ? '' : after
  }
}

/** The files of the program that unit tests load, directly or indirectly. Type imports are not loaded. */
function loadedByUnitTests(tree: ReadonlyMap<string, string>): Set<string> {
  const found = new Set<string>()
  const left = [...tree.keys()].filter(file => file.startsWith('test/unit/'))
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    const text = tree.get(file)
    if (text === undefined || found.has(file)) continue
    found.add(file)
    left.push(...importsOf(file, text))
  }
  return found
}

function importsOf(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  return source.statements.flatMap(statement => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return []
    const isType = ts.isImportDeclaration(statement)
      ? statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      : statement.isTypeOnly
    const from = statement.moduleSpecifier
    if (isType || !from || !ts.isStringLiteral(from) || !from.text.startsWith('.')) return []
    return [join(dirname(file), from.text)]
  })
}
