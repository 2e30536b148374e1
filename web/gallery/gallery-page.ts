// Defines the elements of the page.
// oxlint-disable-next-line import/no-unassigned-import
import '../widget/widget.ts'

const copiedText = 'Copied'
const copiedMs = 2_000

/** Copies the code beside a button, or selects it if the page may not use the clipboard. */
async function copyCode(button: HTMLButtonElement): Promise<void> {
  const code = button.parentElement?.querySelector('code')
  if (!code) return
  try {
    await navigator.clipboard.writeText(code.textContent ?? '')
  } catch {
    getSelection()?.selectAllChildren(code)
    return
  }
  const text = button.textContent
  if (text === copiedText) return
  button.textContent = copiedText
  setTimeout(() => (button.textContent = text), copiedMs)
}

for (const button of document.querySelectorAll<HTMLButtonElement>('button.copy'))
  button.addEventListener('click', () => void copyCode(button))
