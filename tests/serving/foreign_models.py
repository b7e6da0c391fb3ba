"""SavedModels that the zoo had no hand in: of TensorFlow 1 and 2, and of plain Keras."""

import keras
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def example(**features):
    """A serialised `tf.train.Example` of numbers."""
    named = {
        name: tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
        for name, value in features.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=named)).SerializeToString()


def half_plus_two_of_a_session(folder):
    """y = x / 2 + 2 as TensorFlow 1 wrote it: variables of a session, an asset, and signatures to classify,
    to regress and to predict, the first two from serialised examples."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    note = folder.parent / "note.txt"
    note.write_text("nothing is read from here\n")
    with tf.Graph().as_default(), v1.Session() as session:
        half, two = v1.get_variable("half", initializer=0.5), v1.get_variable("two", initializer=2.0)
        serialized = v1.placeholder(tf.string, [None], name="tf_example")
        parsed = v1.parse_example(serialized, {"x": tf.io.FixedLenFeature([1], tf.float32)})
        x = v1.placeholder_with_default(parsed["x"], [None, 1], name="x")
        y = tf.add(x * half, two, name="y")
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, tf.constant(str(note)))
        info = v1.saved_model.build_tensor_info
        outputs = {"outputs": info(y)}

        def signature(inputs, outputs, method):
            return v1.saved_model.build_signature_def(inputs, outputs, f"tensorflow/serving/{method}")

        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {
                "serving_default": signature({"x": info(x)}, {"y": info(y)}, "predict"),
                "regress_x_to_y": signature({"inputs": info(serialized)}, outputs, "regress"),
                "classify_x_to_y": signature({"inputs": info(serialized)}, {"scores": info(y)}, "classify"),
            },
            assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
        )
        builder.save()
    return folder


def half_plus_two_of_a_module(folder):
    """The same as TensorFlow 2 writes it."""
    module = tf.Module()
    module.half, module.two = tf.Variable(0.5), tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 1], tf.float32, name="x")])
    def predict(x):
        return {"y": x * module.half + module.two}

    tf.saved_model.save(module, str(folder), signatures=predict)
    return folder


def dense_of_keras(folder):
    """Three numbers to two, by `model.export`: y = x W + b with W_ij = i + 2 j and b = (1, -1)."""
    model = keras.Sequential([keras.Input((3,), name="x"), keras.layers.Dense(2)])
    model.layers[0].set_weights([np.arange(3)[:, None] + 2.0 * np.arange(2), np.array([1.0, -1.0])])
    model.export(folder, verbose=False)
    return folder


def texts_of_keras(folder):
    """A text to the ids of three words at most, by `model.export`: `a` is 2, `b` is 3, others are 1."""
    words = keras.layers.TextVectorization(output_sequence_length=3, vocabulary=["a", "b"])
    model = keras.Sequential([keras.Input((1,), dtype="string", name="words"), words])
    model.export(folder, verbose=False)
    return folder


FOREIGN = {
    "session": half_plus_two_of_a_session,
    "module": half_plus_two_of_a_module,
    "dense": dense_of_keras,
    "words": texts_of_keras,
}
