import pytest

from zoo.metrics import moses_tokens

CUT = [
    ("de", "ein hund, zwei hunde.", "ein hund , zwei hunde ."),
    ("de", "ein 3-jähriges kind im t-shirt", "ein 3-jähriges kind im t-shirt"),
    ("de", "es kostet 1,50 euro, 2.000 mal", "es kostet 1,50 euro , 2.000 mal"),
    ("de", "er wartet... lange", "er wartet ... lange"),
    ("de", "am 3. mai", "am 3. mai"),
    ("de", "der 3.", "der 3 ."),
    ("de", "bilder usw. und z.b. hunde", "bilder usw. und z.b. hunde"),
    ("de", "„komm“ – (bald) — sagt’s", '" komm " - ( bald ) - sagt \' s'),
    ("de", 'er ruft "komm".', 'er ruft " komm " .'),
    ("en", 'he calls "come".', 'he calls " come . "'),
    ("en", "it's the man's dog, isn't it?", "it 's the man 's dog , isn 't it ?"),
    ("en", "the boys' dog", "the boys ' dog"),
    ("en", "at 5 p.m. in the u.s. today.", "at 5 p.m. in the u.s. today ."),
    ("en", "he sits. then he runs.", "he sits. then he runs ."),
    ("fr", "l'homme d'à côté ; aujourd'hui !", "l' homme d' à côté ; aujourd' hui !"),
    ("fr", "« oui » , dit-il", '" oui " , dit-il'),
    ("en", "50 % of a_b@c & <d>", "50 % of a _ b @ c & < d >"),
    ("en", "", ""),
    ("en", "  \t ", ""),
]


@pytest.mark.parametrize(("language", "text", "cut"), CUT)
def test_text_is_cut_by_the_rules(language, text, cut):
    assert " ".join(moses_tokens(text, language)) == cut


@pytest.mark.parametrize(("language", "text", "cut"), CUT)
def test_what_is_cut_stays_so(language, text, cut):
    if "." not in cut and "'" not in cut:  # a mark that stands alone may be joined to nothing any more
        assert " ".join(moses_tokens(cut, language)) == cut


def test_other_languages_are_refused():
    with pytest.raises(ValueError, match="one of de, en, fr, got 'xx'"):
        moses_tokens("a", "xx")
