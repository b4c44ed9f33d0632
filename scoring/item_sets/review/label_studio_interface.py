"""The labelling interface of Label Studio: the item in its direction, the English beside it, the form."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from maskedadv.scoring.item_sets.review.form import ASK_SPANS, SPANS, Choice, Text, choices_for, texts_for

GUIDE = (
    "<p>Read the item, and the English beside it if there is one. Answer every question by yourself, without "
    "asking others: what counts is what several people think independently. Point at an answer to see what "
    "it means.</p><p>Mark the words that call for local knowledge: press <b>Trigger</b>, then select them. "
    "Then <b>Submit</b>. <b>Skip</b> what you cannot judge.</p>"
)
_STYLE = """\
.sides { display: flex; flex-wrap: wrap; gap: 16px; align-items: stretch; }
.side { flex: 1 1 340px; min-width: 0; border: 1px solid rgba(128, 128, 128, 0.4); border-radius: 6px; }
.side { padding: 4px 12px 8px; }
.text { font-size: 17px; line-height: 1.7; overflow-wrap: anywhere; white-space: pre-wrap; }
.rtl { direction: rtl; text-align: right; }
.ltr { direction: ltr; text-align: left; }
.form { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 4px 24px; }
"""


def interface(language: str, direction: str, *, counterpart: bool) -> str:
    """The interface as Label Studio's XML.

    Parameters
    ----------
    language
        Code of the items' language, shown above them.
    direction
        `rtl` or `ltr`.
    counterpart
        Whether the items have an English counterpart.
    """
    english = (
        '<View className="side"><Header size="5" value="English"/>'
        '<View className="text ltr"><Text name="english" value="$english"/></View></View>'
    )
    fields = [_choice(x) for x in choices_for(counterpart)] + [_text(x) for x in texts_for(counterpart)]
    return "\n".join(
        [
            "<View>",
            f"<Style>{_STYLE}</Style>",
            '<Text name="about" value="$about" selectionEnabled="false"/>',
            f'<Header size="5" value={quoteattr(ASK_SPANS)}/>',
            f'<Labels name="trigger_spans" toName="sheet">'
            f'<Label value={quoteattr(SPANS)} background="#d97706"/></Labels>',
            '<View className="sides">',
            f'<View className="side"><Header size="5" value={quoteattr(_word(language))}/>',
            f'<View className="text {direction}">'
            '<Text name="sheet" value="$sheet" granularity="symbol" saveTextResult="yes"/></View></View>',
            english if counterpart else "",
            "</View>",
            '<View className="form">',
            *fields,
            "</View>",
            "</View>",
        ]
    )


def _word(language: str) -> str:
    """A value that Label Studio does not take for the name of a field of the task."""
    return f"Item ({language})"


def _choice(x: Choice) -> str:
    options = "".join(
        f"<Choice value={quoteattr(value)} alias={quoteattr(value)} hint={quoteattr(hint)}/>"
        for value, hint in x.answers.items()
    )
    return (
        f'<View><Header size="5" value={quoteattr(x.ask)}/>'
        f'<Choices name="{x.name}" toName="sheet" choice="single" required="true" showInline="true" '
        f"requiredMessage={quoteattr('Please answer: ' + x.ask)}>{options}</Choices></View>"
    )


def _text(x: Text) -> str:
    only = ' visibleWhen="choice-selected" whenTagName="translation" whenChoiceValue="bad"'
    prefilled = ' value="$english"' if x.name == "mended" else ""
    return (
        f'<View{only if x.counterpart else ""}><Header size="5" value={quoteattr(x.ask)}/>'
        f'<TextArea name="{x.name}" toName="sheet" rows="{x.lines}" maxSubmissions="1" '
        f'editable="true"{prefilled}/></View>'
    )
