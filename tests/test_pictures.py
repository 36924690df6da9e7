"""A picture becomes tokens and again a picture, and what is no grey picture is refused."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lowpass.pictures import assembled, grey_levels, image
from lowpass.registry import Refusal


def saved(levels: np.ndarray, form: str = "PNG", **more) -> bytes:
    """Save an array as Pillow would."""
    room = io.BytesIO()
    Image.fromarray(levels).save(room, form, **more)
    return room.getvalue()


def cut(content: bytes, patch: int, **more) -> tuple[np.ndarray, dict]:
    made = image(content, path="a.png", patch=patch, **more)
    return made.pop("x"), made


@given(st.integers(1, 4), st.integers(1, 4), st.sampled_from([1, 2, 3]), st.integers(0, 2**32 - 1))
def test_what_is_cut_is_put_together_again(rows, columns, patch, seed):
    shape = (rows * patch, columns * patch)
    levels = np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)
    x, places = cut(saved(levels), patch)
    assert x.shape == (1, rows * columns, patch * patch)
    assert np.array_equal(assembled(x, **places)[0], levels / 255)


def test_a_patch_is_a_square_of_neighbours():
    """Token 3 of a 4 x 6 picture in patches of 2 begins at row 2, column 0."""
    levels = np.arange(24, dtype=np.uint8).reshape(4, 6)
    x, places = cut(saved(levels), 2)
    assert np.array_equal(x[0, 3] * 255, [12, 13, 18, 19])
    assert (places["row"][3], places["column"][3]) == (2, 0)


def test_black_is_zero_and_white_is_one_at_any_depth():
    shallow = np.array([[0, 255]], dtype=np.uint8)
    deep = np.array([[0, 65535]], dtype=np.uint16)
    for content in (saved(shallow), saved(deep), saved(deep, "TIFF")):
        assert np.array_equal(grey_levels(content, "a"), [[0, 1]])


def test_copies_are_replicates_of_one_picture(rng):
    levels = rng.integers(0, 256, (4, 4), dtype=np.uint8)
    once, _ = cut(saved(levels), 2)
    thrice, _ = cut(saved(levels), 2, copies=3)
    assert np.array_equal(thrice, np.concatenate([once] * 3))


def test_pictures_of_many_layers_are_put_together_at_once(rng):
    _, places = cut(saved(np.zeros((4, 6), np.uint8)), 2)
    x = rng.standard_normal((2, 3, 6, 4))
    whole = assembled(x, **places)
    for index in np.ndindex(2, 3):
        assert np.array_equal(whole[index], assembled(x[index], **places))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (saved(np.zeros((4, 4, 3), np.uint8)), r"^a\.png: is not greyscale but of the mode RGB;"),
        (saved(np.zeros((4, 4, 4), np.uint8)), r"is not greyscale but of the mode RGBA; .*convert"),
        (saved(np.zeros((4, 4, 2), np.uint8)), r"is not greyscale but of the mode LA; .*convert"),
        (saved(np.zeros((4, 4), bool)), r"is not greyscale but of the mode 1; .*convert"),
        (
            saved(np.zeros((4, 4), np.uint8), transparency=0),
            r"is not greyscale but of the mode L, with transparency; .*convert",
        ),
        (b"", r"^a\.png: cannot be read as a picture \(UnidentifiedImageError\); give a PNG"),
        (b"P5 2 2", r"^a\.png: cannot be read as a picture"),
        (saved(np.zeros((64, 64), np.uint8))[:60], r"^a\.png: cannot be read as a picture"),
        (saved(np.zeros((6, 4), np.uint8)), r"^a\.png: 6 x 4 pixels are no whole number of patch"),
        (saved(np.zeros((4, 7), np.uint8)), r"^a\.png: 4 x 7 pixels are no whole number of patch"),
    ],
)
def test_what_is_no_grey_picture_in_patches_is_refused(content, message):
    with pytest.raises(Refusal, match=message):
        image(content, path="a.png", patch=4)


def test_several_pictures_in_one_file_are_refused():
    frames = [Image.fromarray(np.full((4, 4), level, np.uint8)) for level in (0, 9)]
    room = io.BytesIO()
    frames[0].save(room, "TIFF", save_all=True, append_images=frames[1:])
    with pytest.raises(Refusal, match=r"^a\.tif: holds 2 pictures; tokens are patches of one\."):
        image(room.getvalue(), path="a.tif")


@pytest.mark.parametrize(
    ("row", "column", "message"),
    [
        ([0, 0], [0, 0], r"pixel \[0, 0\] is covered by 2 patches"),
        ([0, 2], [0, 2], r"pixel \[0, 2\] is covered by 0 patches"),
    ],
)
def test_patches_that_do_not_tile_are_no_picture(row, column, message):
    corners = {"row": np.array(row), "column": np.array(column)}
    within = {"patch_row": np.array([0, 0, 1, 1]), "patch_column": np.array([0, 1, 0, 1])}
    with pytest.raises(Refusal, match=message):
        assembled(np.zeros((2, 4)), **corners, **within)
