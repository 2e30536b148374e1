/** The maximum nesting of arrays and objects in a body. */
export const maxJsonDepth = 64

type ProblemKind = 'malformed' | 'too-deep' | 'too-long' | 'too-many-members' | 'too-many-values'

/** The text is not JSON, or exceeds a limit. */
export class JsonProblem extends Error {
  readonly kind: ProblemKind
  /** The member of the outermost object in which it is, as it is written; empty if unknown. */
  readonly member: string

  constructor(kind: ProblemKind, member = '') {
    super(kind)
    this.kind = kind
    this.member = member
  }
}

/** Of an object. No record has as many fields, and many different names take long wherever they are looked at. */
export const maxJsonMembers = 1_000

/** Of a text, number or white space: it is parsed and validated at once, at up to 80 ns for a character. */
export const maxTokenLength = 256 * 1024

interface PartOptions {
  /** Elements and members, at any depth. */
  readonly maxValues: number
  readonly maxMembers?: number
  /** Called with each part that was parsed, and its text. May throw. */
  readonly check?: (value: unknown, text: string) => void
  /** About as many characters are read between two steps, and parsed at once unless a text or number is longer. */
  readonly partLength?: number
}

/** An array or object whose end was not read yet. */
interface Container {
  readonly isArray: boolean
  readonly start: number
  commas: number
  /** The elements before `from`. Null: none of them was parsed, so it is parsed with the container around it. */
  value: unknown[] | Record<string, unknown> | null
  /** The start of what was not parsed. */
  from: number
  /** The start of the last element or member; -1 after one that was parsed, until there is a comma. */
  last: number
}

/**
 * Parses a text as `JSON.parse` does, in steps of which each takes few milliseconds: names that differ take some
 * microseconds each. Values are counted before any of them is built. Throws `JsonProblem`.
 */
export function* parseJsonInParts(
  text: string,
  { maxValues, maxMembers = maxJsonMembers, check = () => {}, partLength = 16 * 1024 }: PartOptions
): Generator<void, unknown> {
  const open: Container[] = []
  let root: Container['value'] = null
  let rootStart = 0
  let rootEnd = 0
  let values = 1
  let isInText = false

  const parse = (part: string): unknown => {
    const value = parseWhole(part)
    check(value, part)
    return value
  }
  const countValue = () => {
    values += 1
    if (values > maxValues) throw new JsonProblem('too-many-values', memberAt(text, open))
  }
  /** Parses the elements of a container from `from` on, up to a comma or its end. */
  const take = (container: Container, end: number) => {
    const part = text.slice(container.from, end)
    if (container.isArray) {
      const elements = parse(`[${part}]`)
      if (!Array.isArray(elements) || elements.length === 0) throw new JsonProblem('malformed')
      for (const element of elements) add(container, element)
    } else {
      const members = Object.entries(Object(parse(`{${part}}`)))
      if (members.length === 0) throw new JsonProblem('malformed')
      for (const [name, member] of members) add(container, member, name)
    }
    container.from = end + 1
  }
  const add = (container: Container, element: unknown, name = '') => {
    if (container.value === null) container.value = container.isArray ? [] : {}
    if (Array.isArray(container.value)) container.value.push(element)
    else Object.defineProperty(container.value, name, { value: element, ...ordinary })
  }
  /** Parses what is before an element of a container, so that the element can be parsed in parts. */
  const separate = (container: Container) => {
    if (container.from < container.last) take(container, container.last - 1)
    if (container.value === null) container.value = container.isArray ? [] : {}
  }
  /** Puts a container whose elements were parsed into the one around it. */
  const close = (container: Container, end: number) => {
    const parent = open.at(-1)
    if (parent === undefined) {
      root = container.value
      rootStart = container.start
      rootEnd = end + 1
      return
    }
    const before = text.slice(parent.from, container.start)
    const name = parent.isArray ? parseBlank(before) : nameOf(parse(`{${before}[]}`))
    add(parent, container.value, name)
    parent.from = end + 1
    parent.last = -1
  }

  for (let index = 0, pauseAt = partLength; ; index += 1) {
    const from = index
    for (;;) {
      index = findStructure(text, index, Math.min(pauseAt, text.length), isInText)
      if (index < pauseAt) break
      if (index - from > maxTokenLength) throw new JsonProblem('too-long', memberAt(text, open))
      yield
      pauseAt = index + Math.max(1, partLength)
    }
    if (index >= text.length) break
    const code = text.charCodeAt(index)
    if (isInText) {
      isInText = false
      continue
    }
    const container = open.at(-1)
    switch (code) {
      case quote:
        isInText = true
        break
      case bracket:
      case brace:
        countValue()
        if (container === undefined ? root !== null : container.last < 0) throw new JsonProblem('malformed')
        if (open.length === maxJsonDepth) throw new JsonProblem('too-deep')
        open.push({
          isArray: code === bracket,
          start: index,
          commas: 0,
          value: null,
          from: index + 1,
          last: index + 1
        })
        break
      case comma:
        countValue()
        if (container === undefined) throw new JsonProblem('malformed')
        container.commas += 1
        if (!container.isArray && container.commas >= maxMembers)
          throw new JsonProblem('too-many-members', memberAt(text, open))
        if (container.last < 0) {
          parseBlank(text.slice(container.from, index))
          container.from = index + 1
        } else if (index - container.from > partLength) {
          open.slice(0, -1).forEach(separate)
          take(container, index)
        }
        container.last = index + 1
        break
      case closingBracket:
      case closingBrace:
        open.pop()
        if (container === undefined) throw new JsonProblem('malformed')
        if (container.value === null) break
        if (container.isArray !== (code === closingBracket)) throw new JsonProblem('malformed')
        if (container.last < 0) parseBlank(text.slice(container.from, index))
        else take(container, index)
        close(container, index)
        break
    }
  }
  if (open.length > 0 || isInText) throw new JsonProblem('malformed')
  if (root === null) return parse(text)
  parseBlank(text.slice(0, rootStart))
  parseBlank(text.slice(rootEnd))
  return root
}

/**
 * The index of the next character that begins or ends something, or in a text of the quote at its end; `to` or more if
 * there is none before. A function of its own, because V8 optimizes loops in generators less.
 */
function findStructure(text: string, from: number, to: number, isInText: boolean): number {
  for (let index = from; index < to; index += 1) {
    const code = text.charCodeAt(index)
    if (code === quote) return index
    if (isInText) {
      if (code === backslash) index += 1
      // One behind the end was escaped.
      if (index + 1 >= to) return index + 1
    } else if (
      code === comma ||
      code === bracket ||
      code === brace ||
      code === closingBracket ||
      code === closingBrace
    )
      return index
  }
  return to
}

function parseWhole(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new JsonProblem('malformed')
  }
}

/** Throws for a text that is not white space. Returns an empty name. */
function parseBlank(text: string): string {
  const elements = text === '' ? [] : parseWhole(`[${text}]`)
  if (!Array.isArray(elements) || elements.length > 0) throw new JsonProblem('malformed')
  return ''
}

function nameOf(member: unknown): string {
  const [name, ...others] = Object.keys(Object(member))
  if (name === undefined || others.length > 0) throw new JsonProblem('malformed')
  return name
}

/** An assignment to `__proto__` would change the prototype. */
const ordinary = { writable: true, enumerable: true, configurable: true }

const maxNameLength = 100

/** The name of the last member of the outermost object. */
function memberAt(text: string, [root]: readonly Container[]): string {
  if (root === undefined || root.isArray || root.last < 0) return ''
  const start = text.slice(root.last, root.last + 2 * maxNameLength)
  return /^\s*"((?:[^"\\]|\\.)*)/.exec(start)?.[1]?.slice(0, maxNameLength) ?? ''
}

const quote = 0x22
const comma = 0x2c
const bracket = 0x5b
const backslash = 0x5c
const closingBracket = 0x5d
const brace = 0x7b
const closingBrace = 0x7d
