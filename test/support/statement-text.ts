import { ts } from '@ts-morph/common'

export interface StatementText {
  readonly text: string
  /** The expressions whose values are its parameters. */
  readonly parameters: string[]
  /** The expressions for parts of its text that are known only at run time. */
  readonly unknown: string[]
}

/** What the parameters of the functions around a fragment are. */
type Scope = ReadonlyMap<ts.Symbol, { readonly node: ts.Expression; readonly scope: Scope }>

/**
 * Returns a function that puts a statement and its fragments together, with `$1` for parameters, which are all
 * expressions that are not seen to be fragments. Of two fragments of a condition it takes the first if `isTrue`. It asks
 * for few types, because most take long to derive. `page` is a parameter in the statement and its value.
 */
export function openExpansion(checker: ts.TypeChecker, isTrue: boolean) {
  return (
    statement: ts.Expression,
    page?: readonly [ts.ParameterDeclaration, ts.Expression]
  ): StatementText => {
    const parameters: string[] = []
    const unknown: string[] = []
    const running = new Set<ts.Node>()
    const none: Scope = new Map()
    const scope = page ? new Map([[symbolOf(page[0].name), { node: page[1], scope: none }]]) : none
    return { text: textOf(statement, scope, ''), parameters, unknown }

    function textOf(node: ts.Expression, within: Scope, before: string): string {
      if (ts.isParenthesizedExpression(node)) return textOf(node.expression, within, before)
      if (ts.isTaggedTemplateExpression(node)) return templateText(node.template, within, before)
      if (ts.isConditionalExpression(node))
        return textOf(isTrue ? node.whenTrue : node.whenFalse, within, before)
      if (ts.isCallExpression(node)) return callText(node, within, before)
      const bound = boundTo(node, within)
      if (bound) return textOf(bound.node, bound.scope, before)
      const value = initializerOf(node)
      return value && !ts.isIdentifier(value) ? textOf(value, within, before) : addParameter(node)
    }

    function addParameter(node: ts.Node): string {
      parameters.push(shorten(node))
      return `$${parameters.length}`
    }

    function fail(node: ts.Node): string {
      unknown.push(shorten(node))
      return ''
    }

    function templateText(template: ts.TemplateLiteral, within: Scope, before: string): string {
      if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text
      let all = template.head.text
      for (const { expression, literal } of template.templateSpans)
        all += textOf(expression, within, before + all) + literal.text
      return all
    }

    function callText(call: ts.CallExpression, within: Scope, before: string): string {
      const { expression, arguments: given } = call
      if (/(^|\.)(sql|tx)$/.test(expression.getText())) return helperText(given[0], within, before)
      if (ts.isPropertyAccessExpression(expression) && expression.name.text === 'unsafe')
        return stringOf(given[0], within) ?? fail(call)
      const called = functionOf(expression)
      const body = called?.body
      const result = body && ts.isBlock(body) ? returnedBy(body) : body
      if (!called || !result || running.has(result)) return addParameter(call)
      const inner = new Map(within)
      for (const [index, { name }] of called.parameters.entries()) {
        const node = given[index]
        if (ts.isIdentifier(name) && node) inner.set(symbolOf(name), { node, scope: within })
      }
      running.add(result)
      const text = textOf(result, inner, before)
      running.delete(result)
      return text
    }

    /** The first or last value that a function returns. */
    function returnedBy(body: ts.Block): ts.Expression | undefined {
      const found: ts.Expression[] = []
      const visit = (node: ts.Node): void => {
        if (ts.isReturnStatement(node) && node.expression) found.push(node.expression)
        if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit)
      }
      visit(body)
      return isTrue ? found[0] : found.at(-1)
    }

    /** `sql(name)`, `sql(row)` and `sql(list)`. */
    function helperText(first: ts.Expression | undefined, within: Scope, before: string): string {
      if (/\binsert into \S+\s*$/.test(before)) return 'default values'
      const name = stringOf(first, within)
      if (!first || name !== undefined) return `"${name}"`
      if (/\bin\s*$/.test(before)) return `(${addParameter(first)})`
      // The types of columns do not depend on the order.
      if (/\border by\s+$/.test(before)) return '1'
      const [column] = checker.getPropertiesOfType(checker.getTypeAtLocation(first))
      return column && /\bset\s*$/.test(before) ? `"${column.name}"=${addParameter(first)}` : fail(first)
    }

    /** The value of an expression, if it is known; the first one of several. */
    function stringOf(node: ts.Expression | undefined, within: Scope): string | undefined {
      if (!node) return undefined
      const bound = boundTo(node, within)
      if (bound) return stringOf(bound.node, bound.scope)
      const type = checker.getTypeAtLocation(node)
      const first = type.isUnion() ? type.types[0] : type
      if (first && (first.isStringLiteral() || first.isNumberLiteral())) return String(first.value)
      if (first && first.flags & ts.TypeFlags.Number) return '1'
      if (ts.isCallExpression(node) && node.expression.getText() === 'String')
        return stringOf(node.arguments[0], within)
      if (!ts.isTemplateExpression(node)) return undefined
      const values = node.templateSpans.map(({ expression }) => stringOf(expression, within))
      const rest = node.templateSpans.map(({ literal }, index) => `${values[index]}${literal.text}`)
      return values.includes(undefined) ? undefined : node.head.text + rest.join('')
    }
  }

  function boundTo(node: ts.Expression, scope: Scope) {
    return ts.isIdentifier(node) ? scope.get(symbolOf(node)) : undefined
  }

  /** The value of a variable, or the default of a parameter. */
  function initializerOf(name: ts.Expression): ts.Expression | undefined {
    const declared = ts.isIdentifier(name) ? symbolOf(name).valueDeclaration : undefined
    return declared && (ts.isVariableDeclaration(declared) || ts.isParameter(declared))
      ? declared.initializer
      : undefined
  }

  /** The function that a name stands for. */
  function functionOf(name: ts.Expression) {
    const declared = ts.isIdentifier(name) ? symbolOf(name).valueDeclaration : undefined
    const value = declared && ts.isFunctionDeclaration(declared) ? declared : initializerOf(name)
    return value && (ts.isFunctionDeclaration(value) || ts.isArrowFunction(value)) ? value : undefined
  }

  function symbolOf(node: ts.Node): ts.Symbol {
    const found = checker.getSymbolAtLocation(node)
    if (!found) throw new Error(`${node.getText()} has no symbol`)
    return found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found
  }
}

const shorten = (node: ts.Node) => node.getText().replace(/\s+/g, ' ').slice(0, 40)
