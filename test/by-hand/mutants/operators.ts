import { ts } from '@ts-morph/common'

/**
 * A possible change of a source file: the text from `start` to `end` is replaced. All of it is on one line.
 */
export interface Change {
  readonly operator: string
  readonly start: number
  readonly end: number
  readonly replacement: string
}

const { SyntaxKind } = ts

const otherOperators = new Map<ts.SyntaxKind, { readonly operator: string; readonly text: string }>([
  [SyntaxKind.LessThanToken, { operator: 'boundary', text: '<=' }],
  [SyntaxKind.LessThanEqualsToken, { operator: 'boundary', text: '<' }],
  [SyntaxKind.GreaterThanToken, { operator: 'boundary', text: '>=' }],
  [SyntaxKind.GreaterThanEqualsToken, { operator: 'boundary', text: '>' }],
  [SyntaxKind.EqualsEqualsEqualsToken, { operator: 'comparison', text: '!==' }],
  [SyntaxKind.ExclamationEqualsEqualsToken, { operator: 'comparison', text: '===' }],
  [SyntaxKind.AmpersandAmpersandToken, { operator: 'logic', text: '||' }],
  [SyntaxKind.BarBarToken, { operator: 'logic', text: '&&' }],
  [SyntaxKind.PlusToken, { operator: 'arithmetic', text: '-' }],
  [SyntaxKind.MinusToken, { operator: 'arithmetic', text: '+' }],
  [SyntaxKind.AsteriskToken, { operator: 'arithmetic', text: '/' }],
  [SyntaxKind.SlashToken, { operator: 'arithmetic', text: '*' }],
  [SyntaxKind.PlusEqualsToken, { operator: 'arithmetic', text: '-=' }],
  [SyntaxKind.MinusEqualsToken, { operator: 'arithmetic', text: '+=' }]
])

const otherMethods = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['floor', 'ceil'],
  ['ceil', 'floor'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['find', 'findLast'],
  ['findLast', 'find'],
  ['push', 'unshift'],
  ['unshift', 'push'],
  ['indexOf', 'lastIndexOf'],
  ['lastIndexOf', 'indexOf']
])

/** Methods that return the type of the value they are called on. */
const removableMethods = new Set([
  'filter',
  'toSorted',
  'sort',
  'toReversed',
  'reverse',
  'trim',
  'toLowerCase',
  'slice',
  'concat',
  'normalize'
])

/** Every possible change of a file, except in types, imports, comments, log lines and error messages. */
export function changesOf(file: string, text: string): Change[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const changes: Change[] = []
  visit(source)
  return changes.filter(({ start, end }) => lineAt(start) === lineAt(end))

  function visit(node: ts.Node): void {
    if (isLeftAlone(node)) return
    change(node)
    ts.forEachChild(node, visit)
  }

  function change(node: ts.Node): void {
    if (ts.isBinaryExpression(node)) changeBinary(node)
    else if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
      add('negation', node, node.operand.getText())
    else if (ts.isIfStatement(node)) changeIf(node)
    else if (ts.isConditionalExpression(node)) add('condition', node.condition, negated(node.condition))
    else if (ts.isWhileStatement(node)) add('condition', node.expression, negated(node.expression))
    else if (ts.isNumericLiteral(node))
      add('constant', node, String(Number(node.text.replaceAll('_', '')) + 1))
    else if (node.kind === SyntaxKind.TrueKeyword) add('constant', node, 'false')
    else if (node.kind === SyntaxKind.FalseKeyword) add('constant', node, 'true')
    else if (ts.isCallExpression(node)) changeCall(node)
    else if (ts.isExpressionStatement(node)) removeStatement(node)
  }

  function changeBinary(node: ts.BinaryExpression): void {
    const other = otherOperators.get(node.operatorToken.kind)
    if (other) add(other.operator, node.operatorToken, other.text)
    if (node.operatorToken.kind === SyntaxKind.QuestionQuestionToken)
      add('fallback', node, node.left.getText())
  }

  function changeIf(node: ts.IfStatement): void {
    add('condition', node.expression, negated(node.expression))
    const jumps = [
      SyntaxKind.ReturnStatement,
      SyntaxKind.ContinueStatement,
      SyntaxKind.BreakStatement,
      SyntaxKind.ThrowStatement
    ]
    if (ts.isBlock(node.parent) && !node.elseStatement && jumps.includes(node.thenStatement.kind))
      add('guard', node, '')
  }

  function changeCall(node: ts.CallExpression): void {
    const { expression } = node
    if (!ts.isPropertyAccessExpression(expression)) return
    const other = otherMethods.get(expression.name.text)
    if (other !== undefined) add('method', expression.name, other)
    if (removableMethods.has(expression.name.text)) add('method', node, expression.expression.getText())
  }

  function removeStatement(node: ts.ExpressionStatement): void {
    const isInBlock = ts.isBlock(node.parent) || ts.isCaseClause(node.parent)
    if (isInBlock) add('statement', node, '')
  }

  function add(operator: string, node: ts.Node, replacement: string): void {
    changes.push({ operator, start: node.getStart(), end: node.getEnd(), replacement })
  }

  function lineAt(position: number): number {
    return source.getLineAndCharacterOfPosition(position).line
  }
}

const negated = (node: ts.Expression) => `!(${node.getText()})`

const logCall = /(^|\.)(log|logger|console)\b/i

function isLeftAlone(node: ts.Node): boolean {
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return true
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true
  if (ts.isThrowStatement(node)) return true
  const inner = ts.isExpressionStatement(node) ? node.expression : node
  return ts.isCallExpression(inner) && logCall.test(inner.expression.getText())
}
